// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reader of the protobuf wire format (protobuf.dev/programming-guides/encoding), for untrusted messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace roentgen::io {

/// Encoding of a field, as the wire format numbers it.
enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// One field of a message.
struct ProtobufField {
  int number = 0;
  WireType type = WireType::Varint;
  /// Value if the type is Varint, Fixed64 or Fixed32.
  std::uint64_t value = 0;
  /// Content if the type is Bytes; refers to the message.
  std::span<const std::byte> bytes{};

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// Iterates over the fields of a message, which it does not own. Value type.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> message) : rest_(message) {}

  /// Returns the next field, or nullopt at the end. Also returns nullopt from the first malformed field on (a length
  /// beyond the end, a group, field 0); is_damaged() is then true.
  [[nodiscard]] std::optional<ProtobufField> next();
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  std::optional<std::uint64_t> varint();
  std::optional<std::uint64_t> fixed(std::size_t bytes);

  std::span<const std::byte> rest_;
  bool is_damaged_ = false;
};

/// Decodes the varints of a packed field; nullopt if it is damaged.
[[nodiscard]] std::optional<std::vector<std::int64_t>> packed_varints(std::span<const std::byte> packed);

}  // namespace roentgen::io
