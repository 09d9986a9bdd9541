// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/record.h"

#include <fmt/core.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

#include "io/little_endian.h"

namespace roentgen::io {

std::uint32_t masked_crc32c(std::span<const std::byte> data) {
  // crc32_iscsi() takes an int as length, and only reads through its non-const pointer.
  std::uint32_t crc = ~0U;
  while (!data.empty()) {
    const std::size_t count = std::min<std::size_t>(data.size(), std::numeric_limits<int>::max());
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(data.data()));
    crc = crc32_iscsi(bytes, static_cast<int>(count), crc);
    data = data.subspan(count);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

std::string record_frame(std::string_view data) {
  std::string frame;
  frame.reserve(kFrameHead_bytes + data.size() + kFrameTail_bytes);
  append_little_endian(frame, static_cast<std::uint64_t>(data.size()));
  append_little_endian(frame, masked_crc32c(std::as_bytes(std::span(frame))));
  frame += data;
  append_little_endian(frame, masked_crc32c(std::as_bytes(std::span(data))));
  return frame;
}

bool is_sound_record(std::span<const std::byte> framed) {
  if (framed.size() < kFrameTail_bytes) return false;
  const auto data = framed.first(framed.size() - kFrameTail_bytes);
  return masked_crc32c(data) == little_endian_at<std::uint32_t>(framed, data.size());
}

Result<std::vector<RecordPlace>> scan_records(std::span<const std::byte> file, std::string_view what,
                                              RecordCheck check) {
  std::vector<RecordPlace> places;
  std::size_t at = 0;
  const auto refuse = [&](std::string_view expected, std::string_view got) {
    return failure("io.record", fmt::format("{}, record {} at byte {}", what, places.size() + 1, at), expected, got,
                   "fetching or writing the file again");
  };
  while (at < file.size()) {
    const auto rest = file.subspan(at);
    if (rest.size() < kFrameHead_bytes + kFrameTail_bytes) {
      return refuse("a whole record", fmt::format("{} bytes at the end of the file", rest.size()));
    }
    if (masked_crc32c(rest.first(8)) != little_endian_at<std::uint32_t>(rest, 8)) {
      return refuse("a length with a valid checksum", "a wrong checksum");
    }
    const auto length = little_endian_at<std::uint64_t>(rest, 0);
    if (length > rest.size() - kFrameHead_bytes - kFrameTail_bytes) {
      return refuse(fmt::format("{} bytes of data", length),
                    fmt::format("{} to the end of the file", rest.size() - kFrameHead_bytes));
    }
    const auto bytes = static_cast<std::size_t>(length);
    if (check == RecordCheck::Data && !is_sound_record(rest.subspan(kFrameHead_bytes, bytes + kFrameTail_bytes))) {
      return refuse("data with a valid checksum", "a wrong checksum");
    }
    places.push_back({.begin = at + kFrameHead_bytes, .length = length});
    at += kFrameHead_bytes + bytes + kFrameTail_bytes;
  }
  return places;
}

}  // namespace roentgen::io
