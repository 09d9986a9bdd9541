// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Small parsers for the files of /proc and /sys. Views point into their argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::doctor {

/// Splits a text at a separator; a text without one gives one part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
std::vector<std::string_view> split(std::string&& text, char separator) = delete;  ///< the views would outlive it
/// Returns the lines of a text that are not empty.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> lines_of(std::string&& text) = delete;  ///< the views would outlive it
/// Returns the number at the start of a text, after white space; nullopt if there is none.
[[nodiscard]] std::optional<double> number_in(std::string_view text);
/// Returns the number that a text writes in hexadecimal digits, with or without "0x"; 0 if it is none.
[[nodiscard]] std::uint64_t hex_in(std::string_view text);
/// Returns the text without "0x" at its start.
[[nodiscard]] std::string without_hex_mark(std::string_view text);
/// Returns the value of the first line "key  : value"; empty if there is none.
[[nodiscard]] std::string entry_of(std::string_view text, std::string_view key);
/// Returns the rest of the line after the first `mark`; empty if there is none.
[[nodiscard]] std::string text_after(std::string_view text, std::string_view mark);
/// Removes a terminal's escape sequences, such as those for underlined text.
[[nodiscard]] std::string without_escapes(std::string_view text);

}  // namespace roentgen::doctor
