// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes RecordIO for tests, as dmlc-core's RecordIOWriter does.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::io::testing {

inline constexpr std::uint32_t kRecordIoMagic = 0xced7230a;

template <typename Number>
std::string little_endian(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Encodes a part of kind 0 (whole), 1 (first), 2 (middle) or 3 (last).
inline std::string recordio_part(std::uint32_t kind, std::string_view data) {
  std::string part = little_endian(kRecordIoMagic) +
                     little_endian(kind << 29 | static_cast<std::uint32_t>(data.size())) + std::string(data);
  part.resize((part.size() + 3) / 4 * 4, '\0');
  return part;
}

/// Encodes a record. It is split into parts wherever the magic number occurs at a multiple of 4.
inline std::string recordio_record(std::string_view data) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    if (data.substr(at, 4) != little_endian(kRecordIoMagic)) continue;
    pieces.push_back(data.substr(begin, at - begin));
    begin = at + 4;
  }
  if (pieces.empty()) return recordio_part(0, data);
  std::string record;
  for (std::size_t i = 0; i < pieces.size(); ++i) record += recordio_part(i == 0 ? 1 : 2, pieces[i]);
  return record + recordio_part(3, data.substr(begin));
}

/// Encodes MXNet's header: a single label is stored in it, several follow it.
inline std::string recordio_header(const std::vector<float>& labels, std::uint64_t id) {
  const bool is_one = labels.size() == 1;
  std::string header = little_endian(is_one ? 0U : static_cast<std::uint32_t>(labels.size())) +
                       little_endian(is_one ? labels[0] : 0.0F) + little_endian(id) + little_endian(std::uint64_t{0});
  for (const float label : labels) {
    if (!is_one) header += little_endian(label);
  }
  return header;
}

}  // namespace roentgen::io::testing
