// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/recordio.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "core/error.h"
#include "io/little_endian.h"

namespace roentgen::io {
namespace {

constexpr std::uint32_t kMagic = 0xced7230a;
constexpr std::uint32_t kMagicOf2015 = 0x3ed7230a;
constexpr std::size_t kHead_bytes = 8;
constexpr std::size_t kLabels_begin = 24;

enum class Part : std::uint32_t { Whole = 0, First = 1, Middle = 2, Last = 3 };

/// Header of a part of a record.
struct Head {
  std::uint32_t magic = 0;
  Part part = Part::Whole;
  std::size_t length = 0;
  [[nodiscard]] std::size_t padded() const { return (length + 3) / 4 * 4; }
};

std::optional<Head> head_at(std::span<const std::byte> bytes, std::size_t at) {
  if (bytes.size() - at < kHead_bytes) return std::nullopt;
  const auto word = little_endian_at<std::uint32_t>(bytes, at + 4);
  return Head{.magic = little_endian_at<std::uint32_t>(bytes, at),
              .part = static_cast<Part>(word >> 29),
              .length = word & ((1U << 29) - 1)};
}

bool may_follow(bool is_open, Part part) {
  return is_open ? part == Part::Middle || part == Part::Last : part == Part::Whole || part == Part::First;
}

void append_part(std::string& record, Part part, std::string_view data) {
  append_little_endian(record, kMagic);
  append_little_endian(record, static_cast<std::uint32_t>(part) << 29 | static_cast<std::uint32_t>(data.size()));
  record += data;
  record.append((4 - data.size() % 4) % 4, '\0');
}

}  // namespace

std::string encode_recordio(std::string_view data) {
  RG_ASSERT(data.size() <= kRecordIoMost_bytes);
  std::string record;
  record.reserve(data.size() + 2 * kHead_bytes);
  const auto bytes = std::as_bytes(std::span(data));
  std::size_t begin = 0;
  for (std::size_t at = 0; at + sizeof kMagic <= data.size(); at += 4) {
    if (little_endian_at<std::uint32_t>(bytes, at) != kMagic) continue;
    append_part(record, begin == 0 ? Part::First : Part::Middle, data.substr(begin, at - begin));
    begin = at + sizeof kMagic;
  }
  append_part(record, begin == 0 ? Part::Whole : Part::Last, data.substr(begin));
  return record;
}

std::string encode_recordio_header(std::span<const float> labels, std::uint64_t id) {
  const bool is_one = labels.size() == 1;
  std::string header;
  append_little_endian(header, is_one ? 0U : static_cast<std::uint32_t>(labels.size()));
  append_little_endian(header, is_one ? labels.front() : 0.0F);
  append_little_endian(header, id);
  append_little_endian(header, std::uint64_t{0});
  for (std::size_t i = 0; i < labels.size() && !is_one; ++i) append_little_endian(header, labels[i]);
  return header;
}

Result<std::vector<RecordIoPlace>> scan_recordio(std::span<const std::byte> file, std::string_view what) {
  std::vector<RecordIoPlace> places;
  std::size_t at = 0;
  const auto refuse = [&](std::string_view expected, std::string_view got) {
    return failure("io.recordio", fmt::format("{}, record {} at byte {}", what, places.size() + 1, at), expected, got,
                   "fetching or writing the file again");
  };
  bool is_open = false;
  std::size_t first = 0;
  while (at < file.size()) {
    const auto head = head_at(file, at);
    if (!head) return refuse("a whole record", fmt::format("{} bytes at the end of the file", file.size() - at));
    if (head->magic == kMagicOf2015) return refuse("RecordIO with the magic ced7230a", "that of 2015, 3ed7230a");
    if (head->magic != kMagic) return refuse("RecordIO's magic ced7230a", fmt::format("{:08x}", head->magic));
    if (!may_follow(is_open, head->part)) {
      return refuse(is_open ? "another part of the record" : "the first part of a record",
                    fmt::format("a part of kind {}", static_cast<std::uint32_t>(head->part)));
    }
    const std::size_t begin = at + kHead_bytes;
    if (head->length > file.size() - begin) {
      return refuse(fmt::format("{} bytes of data", head->length),
                    fmt::format("{} to the end of the file", file.size() - begin));
    }
    if (head->part == Part::Whole) places.push_back({.begin = begin, .length = head->length});
    if (head->part == Part::First) first = at;
    if (head->part == Part::Last) {
      places.push_back({.begin = first, .length = begin + head->length - first, .is_in_parts = true});
    }
    is_open = head->part == Part::First || head->part == Part::Middle;
    at = std::min(begin + head->padded(), file.size());
  }
  if (is_open) return refuse("another part of the record", "the end of the file");
  return places;
}

bool join_recordio(std::span<const std::byte> parts, std::vector<std::byte>& out) {
  out.clear();
  out.reserve(parts.size());
  std::size_t at = 0;
  while (true) {
    const auto head = head_at(parts, at);
    const bool is_first = at == 0;
    if (!head || head->magic != kMagic || !may_follow(!is_first, head->part)) return false;
    at += kHead_bytes;
    if (head->length > parts.size() - at) return false;
    if (!is_first) {
      const auto* magic = reinterpret_cast<const std::byte*>(&kMagic);
      out.insert(out.end(), magic, magic + sizeof kMagic);
    }
    const auto data = parts.subspan(at, head->length);
    out.insert(out.end(), data.begin(), data.end());
    at += head->length;
    if (head->part == Part::Last || head->part == Part::Whole) return at == parts.size();
    at += head->padded() - head->length;
    if (at > parts.size()) return false;
  }
}

Result<RecordIoHeader> parse_recordio_header(std::span<const std::byte> record, std::string_view what) {
  const auto refuse = [&](std::string_view expected) {
    return failure("io.recordio", what, expected, fmt::format("{} bytes", record.size()),
                   "records of images, as MXNet's im2rec writes them");
  };
  if (record.size() < kLabels_begin) return refuse("a header of 24 bytes");
  const auto count = little_endian_at<std::uint32_t>(record, 0);
  if (count > (record.size() - kLabels_begin) / sizeof(float)) return refuse(fmt::format("{} labels", count));
  RecordIoHeader header{.labels = {}, .id = little_endian_at<std::uint64_t>(record, 8), .length = kLabels_begin};
  if (count == 0) header.labels = {little_endian_at<float>(record, 4)};
  for (std::uint32_t i = 0; i < count; ++i) {
    header.labels.push_back(little_endian_at<float>(record, header.length));
    header.length += sizeof(float);
  }
  return header;
}

}  // namespace roentgen::io
