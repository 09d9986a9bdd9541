// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// JSON text to Value and back.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/value.h"

namespace roentgen::io {

/// Parses strict JSON. `what` names the text in errors, which carry line and column. Depth is limited to 200;
/// a key twice in one object is refused; an integer beyond 64 bits becomes a double.
Result<Value> parse_json(std::string_view text, std::string_view what);
/// Reads and parses a file; a Failure names it.
Result<Value> read_json(const std::filesystem::path& path);
/// Prints JSON; `indent` < 0 gives one line. Doubles print with the fewest digits that read back the same; NaN and
/// infinities print as null. Key order is kept.
[[nodiscard]] std::string to_json(const Value& value, int indent = 2);

}  // namespace roentgen::io
