// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The text of an error taken apart again: for who catches one and knows the place or the remedy better. So the first
// cause is told once, in one line, and no line holds another.
#pragma once

#include <string>
#include <string_view>

namespace roentgen {

/// Arguments of error_text().
struct ErrorParts {
  std::string thing;     ///< room and thing, without brackets
  std::string what;      ///< file, op or option concerned
  std::string expected;  ///< condition that was not met
  std::string got;       ///< value that was found
  std::string remedy;    ///< step to try; empty: none
};

/// Reads the parts back. A text of another form is all `got`.
[[nodiscard]] ErrorParts error_parts(std::string_view text);

/// An error's text with another remedy.
[[nodiscard]] std::string with_remedy(std::string_view text, std::string_view remedy);

/// An error's text, told of something in `place`: "place" + what.
[[nodiscard]] std::string with_place(std::string_view text, std::string_view place);

/// The cause alone, for an error of a wider scope: "an empty file, not a PNG image".
[[nodiscard]] std::string cause_of(std::string_view text);

}  // namespace roentgen
