// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writing half of the protobuf wire format (protobuf.dev/programming-guides/encoding): what ONNX files and TensorBoard
// events are made of. Three formats with a few dozen fields do not need the library's generated code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace roentgen::io {

/// A message being written, field by field in the order given. Value type.
class ProtobufWriter {
 public:
  /// Writes int64, int32, uint64, bool or enum; negative numbers take ten bytes, as the format requires.
  void integer(int field, std::int64_t value);
  /// Packed repeated int64.
  void integers(int field, std::span<const std::int64_t> values);
  void number(int field, float value);
  void number(int field, double value);
  /// string, bytes.
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
