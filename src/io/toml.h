// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of TOML text (recipes) to Value and back.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/value.h"

namespace roentgen::io {

/// Parses a TOML document; errors state line and column. Refuses dates and times, over 200 levels of nesting, and over
/// 32 dots in a key. Tables keep the order of their keys.
Result<Value> parse_toml(std::string_view text, std::string_view what);
/// Parses one TOML value ("0.1", "[1, 2]", "true"). Other bare words become strings, so that `--set
/// model.name=resnet18` needs no quotes. Fails for dates, and for text that begins like a string, array or table but is
/// not valid.
Result<Value> parse_toml_value(std::string_view text, std::string_view what);
/// Formats a table as a TOML document: plain keys first, then [sections]; null entries are omitted. Doubles have the
/// fewest digits that parse to the same value, and always a point or an exponent.
[[nodiscard]] std::string to_toml(const Value& table);

}  // namespace roentgen::io
