// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Text forms of strings and numbers, shared by JSON and TOML. Not for messages to people.
#pragma once

#include <string>
#include <string_view>

namespace roentgen::io {

/// `text` in double quotes with \" \\ \b \t \n \f \r and \u00XX escapes: a JSON string and a TOML basic string at once.
/// Bytes that are not well-formed UTF-8 become U+FFFD, one for each.
[[nodiscard]] std::string quote_string(std::string_view text);

/// True for a text that begins with the byte order mark of UTF-16.
[[nodiscard]] bool is_utf16(std::string_view text);

/// A text that begins with the byte order mark of UTF-16, as UTF-8 without it; unpaired surrogates become U+FFFD. Other
/// texts as they are.
[[nodiscard]] std::string utf8_of(std::string text);

/// The fewest digits that read back as the same double, always with a point, an exponent or both; "inf", "-inf", "nan".
[[nodiscard]] std::string shortest(double value);

}  // namespace roentgen::io
