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
  std::string thing;     ///< room and thing, without brackets
  std::string what;      ///< file, op or option concerned
  std::string expected;  ///< condition that was not met
  std::string got;       ///< value that was found; the problem of a short text
  std::string remedy;    ///< step to try; empty: none
};

/// Splits a text into its parts. Returns a text in another form as `got` alone.
[[nodiscard]] ErrorParts error_parts(std::string_view text);

/// An error's text with another remedy.
[[nodiscard]] std::string with_remedy(std::string_view text, std::string_view remedy);

/// An error's text with `place` put before its `what`.
[[nodiscard]] std::string with_place(std::string_view text, std::string_view place);

/// Only the cause, for use in an error of a wider scope: "an empty file, not a PNG image".
[[nodiscard]] std::string cause_of(std::string_view text);

}  // namespace roentgen
