// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/foreign_text.h"

#include <algorithm>

#include "core/utf8.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

// Checks that arbitrary bytes are harmless when they are printed.
void fuzz_foreign_text(Input input) {
  const std::string text(text_of(input));
  const std::string shown = terminal_text(text);
  require(terminal_text(shown) == shown, "escaped text escaped once");
  for (std::string_view rest = shown; !rest.empty(); rest.remove_prefix(utf8_length(rest))) {
    require(utf8_length(rest) > 0 && code_point(rest.substr(0, utf8_length(rest))) >= 0x20, "text of a terminal");
  }
  for (const std::string& form : {markdown_text(text), python_string(text)}) {
    require(terminal_text(form) == form, "no control character in Markdown and Python");
  }
  require(markdown_text(text).find_first_of("<>|") == std::string::npos, "no markup");
  const std::string field = csv_field(text);
  require(std::string_view("=@\t\r\n").find(field.empty() ? 'x' : field.front()) == std::string_view::npos,
          "no formula");
}

}  // namespace roentgen::fuzz
