// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of JSON text to Value and back.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/value.h"

namespace roentgen::io {

/// Parses strict JSON. `what` names the text in errors, which state line and column. Nesting is limited to 200 levels.
/// A repeated key in an object is refused. An integer beyond 64 bits becomes a double.
Result<Value> parse_json(std::string_view text, std::string_view what);
/// Reads and parses a file. A Failure names the file.
Result<Value> read_json(const std::filesystem::path& path);
/// Formats a Value as JSON; a negative `indent` gives one line. Doubles have the fewest digits that parse to the same
/// value; NaN and infinities become null. Key order is kept.
[[nodiscard]] std::string to_json(const Value& value, int indent = 2);

}  // namespace roentgen::io
