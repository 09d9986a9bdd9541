// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Foreign text (names of files, labels, strings of DICOM files and recipes) made harmless for the place where it is
// printed: one function a place. JSON and TOML quote it in io/text.h, HTML in publish/svg_plot.h.
#pragma once

#include <string>
#include <string_view>

namespace roentgen {

/// One line for a terminal. Control characters, characters without width or that turn the direction of writing, and
/// bytes that are no UTF-8 become visible: "\n", "\x1b", "\u202e", "\xff". Escaped text is returned unchanged.
[[nodiscard]] std::string terminal_text(std::string_view text);

/// Text inside Markdown, on one line and also in a cell of a table: terminal_text() with HTML and markup escaped.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// Text in Markdown's fixed-width form, on one line; not for cells of a table.
[[nodiscard]] std::string markdown_code(std::string_view text);

/// A Python string literal in double quotes. A byte that is no UTF-8 becomes the surrogate by which Python names it in
/// file names.
[[nodiscard]] std::string python_string(std::string_view text);

/// One word of a shell's command line, with quotes where it holds anything but letters, digits and
/// _ - . / , : = @ % +.
/// Text that a terminal would not show as it is takes bash's form $'...', with octal escapes.
[[nodiscard]] std::string shell_word(std::string_view text);

/// A field of a csv file, quoted only where it must be. A spreadsheet would run a text that begins with = + - @, a tab
/// or a line end as a formula. Such a text gets an apostrophe in front, which csv_value() removes. Numbers stay as they
/// are. The caller must write a row of one empty field as two quotes.
[[nodiscard]] std::string csv_field(std::string_view text);

/// The text that csv_field() wrote, from the field without its quotes: a view into `field`.
[[nodiscard]] std::string_view csv_value(std::string_view field);

}  // namespace roentgen
