// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writer of the protobuf wire format (protobuf.dev/programming-guides/encoding) for ONNX files and TensorBoard events.
// These formats have only a few dozen fields, so the library's generated code is not needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace roentgen::io {

/// A message under construction. Fields are written in the order of the calls. Value type.
class ProtobufWriter {
 public:
  /// Writes an int64, int32, uint64, bool or enum field. Negative numbers take ten bytes, as the format requires.
  void integer(int field, std::int64_t value);
  /// Writes a packed repeated int64 field.
  void integers(int field, std::span<const std::int64_t> values);
  void number(int field, float value);
  void number(int field, double value);
  /// Writes a string or bytes field.
  void text(int field, std::string_view value);
  void bytes(int field, std::span<const std::byte> value);
  void message(int field, const ProtobufWriter& value);

  [[nodiscard]] const std::string& data() const { return data_; }

 private:
  void key(int field, int wire_type);
  void varint(std::uint64_t value);

  std::string data_;
};

}  // namespace roentgen::io
