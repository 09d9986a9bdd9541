// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Foreign text (names of files, labels, strings of DICOM files and recipes) made harmless for the place where it is
// printed: one function a place. JSON and TOML quote it in io/text.h, HTML in publish/svg_plot.h.
#pragma once

#include <string>
#include <string_view>

namespace roentgen {

/// Makes a text safe for one line of a terminal. Escapes control characters, characters that are invisible or change
/// the direction of writing, and invalid UTF-8: "\n", "\x1b", "\u202e", "\xff". Escaping the result again changes
/// nothing.
[[nodiscard]] std::string terminal_text(std::string_view text);

/// Makes a text safe for Markdown on one line, also in a table cell: terminal_text() with HTML and markup escaped.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// Formats a text as Markdown code, on one line; not for table cells.
[[nodiscard]] std::string markdown_code(std::string_view text);

/// Formats a text as a Python string literal in double quotes. An invalid UTF-8 byte becomes the surrogate that Python
/// uses for it in file names.
[[nodiscard]] std::string python_string(std::string_view text);

/// Formats a text as one word of a shell command. Adds quotes if it contains anything but letters, digits and
/// _ - . / , : = @ % +.
/// A text that a terminal would not show unchanged gets bash's form $'...' with octal escapes.
[[nodiscard]] std::string shell_word(std::string_view text);

/// Formats a field of a csv file, quoted only if necessary. A spreadsheet would run a text that begins with = + - @, a
/// tab or a line end as a formula. Such a text gets an apostrophe in front, which csv_value() removes. Numbers stay
/// unchanged. The caller must write a row with a single empty field as two quotes.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Returns the original text of a field written by csv_field(), without its quotes. The result is a view of `field`.
[[nodiscard]] std::string_view csv_value(std::string_view field);

}  // namespace roentgen
