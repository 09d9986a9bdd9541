// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cursor: reads one line of graph text from left to right. Private to the parser.
#pragma once

#include <string>
#include <string_view>

namespace roentgen::graph {

/// Reason why a line is refused. The parser converts it to a Failure with file and line.
struct Refusal {
  std::string expected;
  std::string got;
};
/// Throws a Refusal.
[[noreturn]] void refuse(std::string expected, std::string got);
/// Makes the user's text safe to print: quoted, shortened, with control bytes as '?'. Returns "the end of the line" for
/// an empty text.
[[nodiscard]] std::string shown(std::string_view text);
/// Removes spaces, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Reads one line, token by token. Each function skips the spaces after its token and throws Refusal if the token does
/// not fit. Returned views point into the line.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : rest_(trimmed(line)) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool at(char c) const { return !rest_.empty() && rest_.front() == c; }
  /// Skips `c` and returns true if it comes next; else returns false.
  bool accept(char c);
  void expect(char c);
  void expect_end() const;
  /// Reads letters, digits, '_' and '.'. If there are none, the Refusal says that `expected` was expected.
  std::string_view word(std::string_view expected);
  /// Reads the text up to the next ',' or ')' outside brackets.
  std::string_view value();
  /// Reads a name in double quotes, with the escapes \" \\ and \n.
  std::string quoted();

 private:
  std::string_view take(std::size_t length);

  std::string_view rest_;
};

}  // namespace roentgen::graph
