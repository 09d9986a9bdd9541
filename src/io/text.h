// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Text forms of strings and numbers in JSON and TOML. Not for messages to users.
#pragma once

#include <string>
#include <string_view>

namespace roentgen::io {

/// Puts `text` in double quotes with the escapes \" \\ \b \t \n \f \r and \u00XX, valid in both JSON and TOML. Each
/// byte that is not well-formed UTF-8 becomes U+FFFD.
[[nodiscard]] std::string quote_string(std::string_view text);

/// True if the text begins with a byte order mark of UTF-16.
[[nodiscard]] bool is_utf16(std::string_view text);

/// Converts a text that begins with a byte order mark of UTF-16 to UTF-8 without the mark; unpaired surrogates become
/// U+FFFD. Returns other texts unchanged.
[[nodiscard]] std::string utf8_of(std::string text);

/// Formats a double with the fewest digits that parse to the same value, always with a point, an exponent or both;
/// "inf", "-inf", "nan".
[[nodiscard]] std::string shortest(double value);

}  // namespace roentgen::io
