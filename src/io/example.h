// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// tf.train.Example (tensorflow/core/example/example.proto): named lists of bytes, floats or integers, the usual content
// of a record of a TFRecord file.
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

/// Views of a message's byte strings.
using BytesList = std::vector<std::span<const std::byte>>;

/// A list of one kind; std::monostate where a feature has none.
using Feature = std::variant<std::monostate, BytesList, std::vector<float>, std::vector<std::int64_t>>;

/// Features by name. Points into the message it was read from.
using Example = std::map<std::string_view, Feature>;

/// Reads an Example; lists may be packed or not, and of two features of one name the last counts, as protobuf has it.
/// `what` names it in messages. Failure: no such message.
[[nodiscard]] Result<Example> parse_example(std::span<const std::byte> message, std::string_view what);

/// The feature's first byte string as text; empty where there is none, or where it has another type.
[[nodiscard]] std::string_view text_of(const Example& example, std::string_view name);
/// The feature's integers; empty where there is none, or where it has another type.
[[nodiscard]] std::span<const std::int64_t> integers_of(const Example& example, std::string_view name);

/// Writes an Example, features in the order given.
class ExampleWriter {
 public:
  void bytes(std::string_view name, std::span<const std::byte> value);
  void text(std::string_view name, std::string_view value) { bytes(name, std::as_bytes(std::span(value))); }
  void texts(std::string_view name, std::span<const std::string> values);
  void integers(std::string_view name, std::span<const std::int64_t> values);
  void integer(std::string_view name, std::int64_t value) { integers(name, {&value, 1}); }
  void number(std::string_view name, float value);

  /// The message.
  [[nodiscard]] std::string data() const;

 private:
  void add(std::string_view name, int kind, const std::string& list);

  std::string features_;
};

}  // namespace roentgen::io
