// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/tar.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

namespace roentgen::io {
namespace {

constexpr std::size_t kBlock_bytes = 512;
// Size of an archive without files, tar's usual record size. More zeros mean that the file was never written.
constexpr std::size_t kLargestEmpty_bytes = 20 * kBlock_bytes;
constexpr std::size_t kLongestName_bytes = std::size_t{1} << 16;

/// Offset and length of a field of the header.
struct Field {
  std::size_t begin, length;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
    kSum{148, 8}, kLink{157, 100}, kMagic{257, 6}, kVersion{263, 2}, kPrefix{345, 155};
constexpr std::size_t kType = 156;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::string_view text_of(std::span<const std::byte> header, Field field) {
  const std::string_view text = text_of(header.subspan(field.begin, field.length));
  return text.substr(0, text.find('\0'));
}

// Parses octal digits between blanks or, if the first bit is set, a big-endian binary number (GNU).
std::optional<std::uint64_t> number_of(std::span<const std::byte> header, Field field) {
  const auto bytes = header.subspan(field.begin, field.length);
  if ((bytes[0] & std::byte{0x80}) != std::byte{0}) {
    std::uint64_t number = std::to_integer<std::uint64_t>(bytes[0]) & 0x7F;
    for (const std::byte byte : bytes.subspan(1)) {
      if (number >> 55 != 0) return std::nullopt;
      number = number << 8 | std::to_integer<std::uint64_t>(byte);
    }
    return number;
  }
  std::string_view text = text_of(header, field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  if (text.empty()) return 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Sum of all bytes of the header. The bytes of the checksum field count as blanks.
std::uint64_t sum_of(std::span<const std::byte> header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock_bytes; ++i) {
    const bool is_sum = i >= kSum.begin && i < kSum.begin + kSum.length;
    sum += is_sum ? ' ' : std::to_integer<std::uint64_t>(header[i]);
  }
  return sum;
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

/// Values that extension headers set for the next file.
struct Overrides {
  std::optional<std::string> name{};
  std::optional<std::string> link{};
  std::optional<std::uint64_t> size{};
  bool is_sparse = false;
};

// Parses lines such as "17 path=a/b.png\n", each with its own length at the start.
bool read_pax(std::string_view records, Overrides& overrides) {
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto head = static_cast<std::size_t>(end - records.data()) + 1;
    if (error != std::errc() || length > records.size() || head >= length || *end != ' ') return false;
    const std::string_view line = records.substr(head, length - head - 1);
    const auto equals = line.find('=');
    if (records[length - 1] != '\n' || equals == std::string_view::npos) return false;
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "path") overrides.name = value;
    if (key == "linkpath") overrides.link = value;
    if (key.starts_with("GNU.sparse.")) overrides.is_sparse = true;
    if (key == "size") {
      std::uint64_t size = 0;
      const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (wrong != std::errc() || stop != value.data() + value.size()) return false;
      overrides.size = size;
    }
    records.remove_prefix(length);
  }
  return true;
}

/// Normal form of a link or its target: "a/b.png" for "./a/b.png".
std::string normal(const std::filesystem::path& name) { return name.lexically_normal().string(); }

/// Finds the files that links refer to.
class Links {
 public:
  /// Adds a link, which is member `index` of the archive. Links must be added in order.
  void add(std::size_t index, char type, std::string target) {
    links_.push_back({.index = index, .is_hard = type == '1', .target = std::move(target)});
  }

  void resolve(std::vector<TarMember>& members) {
    if (links_.empty()) return;
    find_targets(members);
    for (const Link& link : links_) {
      TarMember& member = members[link.index];
      if (const auto file = file_of(link)) {
        member.begin = members[*file].begin;
        member.length = members[*file].length;
      } else {
        member.lost_target = link.target.empty() ? "nothing" : link.target;
      }
    }
  }

 private:
  struct Link {
    std::size_t index = 0;
    bool is_hard = false;
    std::string target{};
    /// Index of the member that the link refers to, possibly another link.
    std::optional<std::size_t> leads_to{};
  };
  using Members = std::unordered_map<std::string, std::size_t>;

  static std::optional<std::size_t> find(const Members& members, const std::filesystem::path& name) {
    const auto found = members.find(normal(name));
    return found == members.end() ? std::nullopt : std::optional(found->second);
  }

  // Resolves all links. A hard link refers to an earlier member. A symbolic link refers to the last member with that
  // name, relative to the link's folder.
  void find_targets(const std::vector<TarMember>& members) {
    Members by_name;
    auto link = links_.begin();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (link != links_.end() && link->index == i) {
        if (link->is_hard) link->leads_to = find(by_name, link->target);
        by_index_[i] = &*link++;
      }
      by_name[normal(members[i].name)] = i;
    }
    for (Link& one : links_) {
      const std::filesystem::path folder = std::filesystem::path(members[one.index].name).parent_path();
      if (!one.is_hard) one.leads_to = find(by_name, folder / one.target);
    }
  }

  /// Returns the regular file at the end of a chain of links.
  [[nodiscard]] std::optional<std::size_t> file_of(const Link& first) const {
    constexpr int kLongestChain = 40;
    const Link* link = &first;
    for (int i = 0; i < kLongestChain && link->leads_to; ++i) {
      const auto next = by_index_.find(*link->leads_to);
      if (next == by_index_.end()) return link->leads_to;
      link = next->second;
    }
    return std::nullopt;
  }

  std::vector<Link> links_;
  std::unordered_map<std::size_t, const Link*> by_index_;
};

/// Walks one archive.
class Scan {
 public:
  Scan(std::span<const std::byte> archive, std::string_view what) : archive_(archive), what_(what) {}

  Result<std::vector<TarMember>> run() {
    while (true) {
      if (archive_.size() - at_ < kBlock_bytes) {
        return refuse("zero blocks at the end of the archive", fmt::format("{} bytes", archive_.size() - at_));
      }
      const auto header = archive_.subspan(at_, kBlock_bytes);
      if (is_zero(header)) break;
      if (auto status = entry(header); !status) return status.why();
    }
    if (!is_zero(archive_.subspan(at_))) return refuse("nothing after the end of the archive", "other bytes");
    if (at_ == 0 && archive_.size() > kLargestEmpty_bytes) {
      return refuse("a file", fmt::format("only {} zero bytes", archive_.size()));
    }
    links_.resolve(members_);
    return std::move(members_);
  }

 private:
  [[nodiscard]] Failure refuse(std::string_view expected, std::string_view got) const {
    return failure("io.tar", fmt::format("{}, byte {}", what_, at_), expected, got,
                   "fetching or writing the archive again");
  }

  Status entry(std::span<const std::byte> header) {
    if (number_of(header, kSum) != sum_of(header)) return refuse("a header with a valid checksum", "a wrong checksum");
    const char type = static_cast<char>(header[kType]);
    const bool is_extra = type == 'x' || type == 'g' || type == 'L' || type == 'K';
    auto size = number_of(header, kSize);
    if (size && !is_extra && next_.size) size = next_.size;
    const std::uint64_t room = archive_.size() - at_ - kBlock_bytes;
    const bool is_file = type == '0' || type == '\0' || type == '7';
    const bool has_data = type < '1' || type > '6';  // links, folders and devices have no data, whatever their size
    if (type == 'S' || next_.is_sparse) return refuse("ordinary files", "a sparse file");
    if (size && !has_data) size = 0;
    if (!size || *size > room) {
      return refuse(size ? fmt::format("{} bytes of data", *size) : std::string("a file size"),
                    size ? fmt::format("{} to the end of the archive", room) : std::string("other characters"));
    }
    const std::size_t begin = at_ + kBlock_bytes;
    const auto data = archive_.subspan(begin, static_cast<std::size_t>(*size));
    if (is_extra) {
      if (auto status = extra(type, data); !status) return status;
    } else {
      TarMember member{.name = name_of(header), .begin = begin, .length = *size};
      const bool is_old_folder = member.name.ends_with('/');
      const bool is_link = type == '1' || type == '2';
      if (is_link) links_.add(members_.size(), type, next_.link.value_or(std::string(text_of(header, kLink))));
      if (is_link) member.begin = member.length = 0;
      if (is_link || (is_file && !is_old_folder)) members_.push_back(std::move(member));
      next_ = {};
    }
    const std::uint64_t padded = (*size + kBlock_bytes - 1) / kBlock_bytes * kBlock_bytes;
    if (padded > room) return refuse("data padded to whole blocks", "the end of the archive");
    at_ = begin + static_cast<std::size_t>(padded);
    return Done{};
  }

  Status extra(char type, std::span<const std::byte> data) {
    if (data.size() > kLongestName_bytes) {
      return refuse(fmt::format("names of at most {} bytes", kLongestName_bytes), fmt::format("{}", data.size()));
    }
    const std::string_view text = text_of(data);
    if (type == 'L') next_.name = text.substr(0, text.find('\0'));
    if (type == 'K') next_.link = text.substr(0, text.find('\0'));
    if (type == 'x' && !read_pax(text, next_)) return refuse("a valid extended header", "other bytes");
    return Done{};
  }

  [[nodiscard]] std::string name_of(std::span<const std::byte> header) const {
    if (next_.name) return *next_.name;
    const std::string_view name = text_of(header, kName);
    const bool is_ustar = text_of(header, kMagic) == "ustar";  // GNU pads its magic with blanks and has no prefix
    const std::string_view prefix = is_ustar ? text_of(header, kPrefix) : std::string_view();
    return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
  }

  const std::span<const std::byte> archive_;
  const std::string_view what_;
  std::size_t at_ = 0;
  Overrides next_;
  Links links_;
  std::vector<TarMember> members_;
};

void put(std::string& header, Field field, std::string_view text) { header.replace(field.begin, text.size(), text); }

}  // namespace

Result<std::vector<TarMember>> scan_tar(std::span<const std::byte> archive, std::string_view what) {
  return Scan(archive, what).run();
}

std::string tar_member(std::string_view name, std::string_view data) {
  RG_ASSERT(!name.empty() && name.size() <= kName.length && data.size() < (std::uint64_t{1} << 33));
  std::string member(kBlock_bytes, '\0');
  put(member, kName, name);
  put(member, kMode, "0000644");
  put(member, kUser, "0000000");
  put(member, kGroup, "0000000");
  put(member, kSize, fmt::format("{:011o}", data.size()));
  put(member, kTime, "00000000000");
  member[kType] = '0';
  put(member, kMagic, "ustar");
  put(member, kVersion, "00");
  put(member, kSum, fmt::format("{:06o}", sum_of(std::as_bytes(std::span(member)))));
  member[kSum.begin + 7] = ' ';
  member += data;
  member.resize((member.size() + kBlock_bytes - 1) / kBlock_bytes * kBlock_bytes, '\0');
  return member;
}

}  // namespace roentgen::io
