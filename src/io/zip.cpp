// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Format as in PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.
#include "io/zip.h"

#include <fmt/core.h>
#include <isa-l/crc.h>

#include <cstring>
#include <optional>

namespace roentgen::io {
namespace {

constexpr std::uint32_t kLocalMagic = 0x04034b50, kEntryMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr std::uint32_t kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr std::size_t kLocal_bytes = 30, kEntry_bytes = 46, kEnd_bytes = 22, kEnd64_bytes = 56, kLocator64_bytes = 20;
constexpr std::size_t kMostComment_bytes = 65535;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the actual value is in the zip64 field
constexpr std::uint16_t kField64 = 1, kEncrypted = 1;

template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.subspan(at, sizeof number).data(), sizeof number);
  return number;
}

bool has_magic(std::span<const std::byte> bytes, std::size_t at, std::uint32_t magic, std::size_t size_bytes) {
  return at <= bytes.size() && bytes.size() - at >= size_bytes && number_at<std::uint32_t>(bytes, at) == magic;
}

// Position of the directory, as the record at the end of the archive states it.
struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  bool is_one_part = true;
};

std::optional<std::size_t> end_of_directory(std::span<const std::byte> archive) {
  if (archive.size() < kEnd_bytes) return {};
  const std::size_t last = archive.size() - kEnd_bytes;
  for (std::size_t comment = 0; comment <= std::min(last, kMostComment_bytes); ++comment) {
    const std::size_t at = last - comment;
    if (has_magic(archive, at, kEndMagic, kEnd_bytes) && number_at<std::uint16_t>(archive, at + 20) == comment) {
      return at;
    }
  }
  return {};
}

std::optional<Directory> directory_of(std::span<const std::byte> archive) {
  const auto end = end_of_directory(archive);
  if (!end) return {};
  Directory directory{.begin = number_at<std::uint32_t>(archive, *end + 16),
                      .length = number_at<std::uint32_t>(archive, *end + 12),
                      .is_one_part = number_at<std::uint16_t>(archive, *end + 4) == 0};
  if (*end < kLocator64_bytes || !has_magic(archive, *end - kLocator64_bytes, kLocator64Magic, kLocator64_bytes)) {
    return directory;
  }
  const auto end64 = number_at<std::uint64_t>(archive, *end - kLocator64_bytes + 8);
  if (!has_magic(archive, end64, kEnd64Magic, kEnd64_bytes)) return {};
  directory.length = number_at<std::uint64_t>(archive, end64 + 40);
  directory.begin = number_at<std::uint64_t>(archive, end64 + 48);
  directory.is_one_part = number_at<std::uint32_t>(archive, end64 + 16) == 0;
  return directory;
}

// A file, as its directory entry describes it.
struct Entry {
  ZipMember member;
  std::uint64_t packed_bytes = 0;
  std::uint64_t local = 0;
  std::size_t size_bytes = 0;  // size of the directory entry
};

// Reads values that do not fit into 32 bits from the zip64 field. Returns false if the field is truncated.
bool take_wide(std::span<const std::byte> fields, Entry& entry) {
  while (fields.size() >= 4) {
    const auto id = number_at<std::uint16_t>(fields, 0);
    const std::size_t length = number_at<std::uint16_t>(fields, 2);
    if (length > fields.size() - 4) return false;
    std::span<const std::byte> field = fields.subspan(4, length);
    fields = fields.subspan(4 + length);
    if (id != kField64) continue;
    for (std::uint64_t* value : {&entry.member.length, &entry.packed_bytes, &entry.local}) {
      if (*value != kIn64) continue;
      if (field.size() < 8) return false;
      *value = number_at<std::uint64_t>(field, 0);
      field = field.subspan(8);
    }
  }
  return true;
}

std::optional<Entry> entry_at(std::span<const std::byte> directory, std::size_t at) {
  if (!has_magic(directory, at, kEntryMagic, kEntry_bytes)) return {};
  const auto head = directory.subspan(at);
  const std::size_t name = number_at<std::uint16_t>(head, 28), fields = number_at<std::uint16_t>(head, 30);
  const std::size_t size_bytes = kEntry_bytes + name + fields + number_at<std::uint16_t>(head, 32);
  if (size_bytes > head.size()) return {};
  Entry entry{.member = {.name = std::string(reinterpret_cast<const char*>(head.data()) + kEntry_bytes, name),
                         .length = number_at<std::uint32_t>(head, 24),
                         .crc32 = number_at<std::uint32_t>(head, 16)},
              .packed_bytes = number_at<std::uint32_t>(head, 20),
              .local = number_at<std::uint32_t>(head, 42),
              .size_bytes = size_bytes};
  if (!take_wide(head.subspan(kEntry_bytes + name, fields), entry)) return {};
  const auto method = number_at<std::uint16_t>(head, 10), flags = number_at<std::uint16_t>(head, 8);
  entry.member.is_stored = method == 0 && (flags & kEncrypted) == 0 && entry.packed_bytes == entry.member.length;
  return entry;
}

// Checks that the data lie in the archive, after their local header, and sets their position.
bool find_data(std::span<const std::byte> archive, Entry& entry) {
  if (!has_magic(archive, entry.local, kLocalMagic, kLocal_bytes)) return false;
  entry.member.begin = entry.local + kLocal_bytes + number_at<std::uint16_t>(archive, entry.local + 26) +
                       number_at<std::uint16_t>(archive, entry.local + 28);
  return entry.member.begin <= archive.size() && entry.packed_bytes <= archive.size() - entry.member.begin;
}

}  // namespace

Result<std::vector<ZipMember>> scan_zip(std::span<const std::byte> archive, std::string_view what) {
  constexpr std::string_view kRemedy = "a complete copy of the file";
  const auto directory = directory_of(archive);
  if (!directory || directory->begin > archive.size() || directory->length > archive.size() - directory->begin) {
    return failure("io.zip", what, "a zip directory at the end of the file", "none", kRemedy);
  }
  if (!directory->is_one_part) return failure("io.zip", what, "an archive in one part", "a multi-part archive");
  const auto bytes = archive.subspan(directory->begin, directory->length);
  std::vector<ZipMember> members;
  for (std::size_t at = 0; at < bytes.size();) {
    auto entry = entry_at(bytes, at);
    const std::string place = fmt::format("{}, directory entry {}", what, members.size() + 1);
    if (!entry) return failure("io.zip", place, "a valid file header", "other bytes", kRemedy);
    if (!find_data(archive, *entry)) {
      return failure("io.zip", place, fmt::format("{} bytes of data in the archive", entry->packed_bytes), "fewer",
                     kRemedy);
    }
    at += entry->size_bytes;
    members.push_back(std::move(entry->member));
  }
  return members;
}

Result<std::span<const std::byte>> read_zip_member(std::span<const std::byte> archive, const ZipMember& member,
                                                   std::string_view what) {
  if (!member.is_stored) {
    return failure("io.zip", fmt::format("{}, {}", what, member.name), "an uncompressed file",
                   "a compressed or encrypted file", "packing its files again with zip -0");
  }
  const auto data = archive.subspan(member.begin, member.length);
  const auto crc32 = crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(data.data()), data.size());
  if (crc32 == member.crc32) return data;
  return failure("io.zip", fmt::format("{}, {}", what, member.name), fmt::format("CRC-32 {:08x}", member.crc32),
                 fmt::format("{:08x}", crc32), "a complete copy of the file");
}

}  // namespace roentgen::io
