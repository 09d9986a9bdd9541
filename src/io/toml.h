// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TOML text (recipes) to Value and back.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/value.h"

namespace roentgen::io {

/// Parses a TOML document; errors carry line and column. Dates and times are refused,
/// so are over 200 levels of nesting and over 32 dots in a key. Tables keep the written order.
Result<Value> parse_toml(std::string_view text, std::string_view what);
/// Parses one TOML value ("0.1", "[1, 2]", "true"). Bare words that are no TOML value are taken as strings, so that
/// `--set model.name=resnet18` needs no quotes. Failure for dates, and for values that only start like a string, array
/// or table.
Result<Value> parse_toml_value(std::string_view text, std::string_view what);
/// Prints a table as a TOML document: plain keys first, then [sections]; null entries are left out. Doubles print with
/// the fewest digits that read back the same and always with a point or an exponent.
[[nodiscard]] std::string to_toml(const Value& table);

}  // namespace roentgen::io
