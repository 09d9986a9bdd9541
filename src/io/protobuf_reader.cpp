// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/protobuf_reader.h"

#include <limits>

namespace roentgen::io {
namespace {

// Reads at most ten bytes. Returns nullopt if the number does not end or exceeds 64 bits.
std::optional<std::uint64_t> take_varint(std::span<const std::byte>& rest) {
  constexpr std::size_t kLongest = 10;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLongest && i < rest.size(); ++i) {
    const auto byte = std::to_integer<std::uint64_t>(rest[i]);
    if (i + 1 == kLongest && byte > 1) return std::nullopt;
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      rest = rest.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> ProtobufReader::varint() { return take_varint(rest_); }

std::optional<std::uint64_t> ProtobufReader::fixed(std::size_t bytes) {
  if (rest_.size() < bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
  rest_ = rest_.subspan(bytes);
  return value;
}

std::optional<ProtobufField> ProtobufReader::next() {
  if (rest_.empty() || is_damaged_) return std::nullopt;
  is_damaged_ = true;
  const auto key = varint();
  if (!key || *key >> 3 == 0 || *key >> 3 > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    return std::nullopt;
  }
  ProtobufField field{.number = static_cast<int>(*key >> 3), .type = static_cast<WireType>(*key & 7)};
  std::optional<std::uint64_t> value;
  switch (field.type) {
    case WireType::Varint:
    case WireType::Bytes:
      value = varint();
      break;
    case WireType::Fixed64:
      value = fixed(8);
      break;
    case WireType::Fixed32:
      value = fixed(4);
      break;
  }
  if (!value) return std::nullopt;
  field.value = *value;
  if (field.type == WireType::Bytes) {
    if (*value > rest_.size()) return std::nullopt;
    field.bytes = rest_.first(static_cast<std::size_t>(*value));
    rest_ = rest_.subspan(field.bytes.size());
  }
  is_damaged_ = false;
  return field;
}

std::optional<std::vector<std::int64_t>> packed_varints(std::span<const std::byte> packed) {
  std::vector<std::int64_t> values;
  while (!packed.empty()) {
    const auto value = take_varint(packed);
    if (!value) return std::nullopt;
    values.push_back(static_cast<std::int64_t>(*value));
  }
  return values;
}

}  // namespace roentgen::io
