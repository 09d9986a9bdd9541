// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Splits the text of an error into its parts, for code that catches an error and knows the place or the remedy better.
// So the first cause is reported once, in one line, and no line contains another.
#pragma once

#include <string>
#include <string_view>

namespace roentgen {

/// Arguments of error_text(), or of short_error_text(), which has no `expected`.
struct ErrorParts {
  std::string thing;     ///< source directory and topic, without brackets
  std::string what;      ///< file, op or option that caused the error
  std::string expected;  ///< condition that was not met
  std::string got;       ///< value that was found, or the problem in a short text
  std::string remedy;    ///< advice for the user; empty if there is none
};

/// Splits an error's text into its parts. Returns a text of any other form as `got` alone.
[[nodiscard]] ErrorParts error_parts(std::string_view text);

/// Replaces the remedy in an error's text.
[[nodiscard]] std::string with_remedy(std::string_view text, std::string_view remedy);

/// Inserts `place` before the `what` of an error's text.
[[nodiscard]] std::string with_place(std::string_view text, std::string_view place);

/// Returns only the cause, to use it in the error of a larger operation: "an empty file, not a PNG image".
[[nodiscard]] std::string cause_of(std::string_view text);

}  // namespace roentgen
