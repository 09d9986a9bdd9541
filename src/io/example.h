// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// tf.train.Example (tensorflow/core/example/example.proto): named lists of bytes, floats or integers. Records of
// TFRecord files usually contain this message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// Byte strings, as views into the message.
using BytesList = std::vector<std::span<const std::byte>>;

/// List of values of one type; std::monostate if the feature has none.
using Feature = std::variant<std::monostate, BytesList, std::vector<float>, std::vector<std::int64_t>>;

/// Features by name. Refers to the message that it was read from.
using Example = std::map<std::string_view, Feature>;

/// Parses an Example. Lists may be packed or not. If two features have the same name the last counts, as in protobuf.
/// `what` names the message in errors. Fails if the bytes are no such message.
[[nodiscard]] Result<Example> parse_example(std::span<const std::byte> message, std::string_view what);

/// First byte string of a feature as text; empty if there is none or the feature has another type.
[[nodiscard]] std::string_view text_of(const Example& example, std::string_view name);
/// Integers of a feature; empty if there are none or the feature has another type.
[[nodiscard]] std::span<const std::int64_t> integers_of(const Example& example, std::string_view name);

/// Writes an Example, with features in the order of the calls.
class ExampleWriter {
 public:
  void bytes(std::string_view name, std::span<const std::byte> value);
  void text(std::string_view name, std::string_view value) { bytes(name, std::as_bytes(std::span(value))); }
  void texts(std::string_view name, std::span<const std::string> values);
  void integers(std::string_view name, std::span<const std::int64_t> values);
  void integer(std::string_view name, std::int64_t value) { integers(name, {&value, 1}); }
  void number(std::string_view name, float value);

  /// Returns the encoded message.
  [[nodiscard]] std::string data() const;

 private:
  void add(std::string_view name, int kind, const std::string& list);

  std::string features_;
};

}  // namespace roentgen::io
