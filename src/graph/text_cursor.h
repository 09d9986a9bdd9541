// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cursor: reads one line of graph text from left to right. Private to the parser.
#pragma once

#include <string>
#include <string_view>

namespace roentgen::graph {

/// Reason to refuse a line; the parser turns it into a Failure with file and line.
struct Refusal {
  std::string expected;
  std::string got;
};
/// Throws Refusal.
[[noreturn]] void refuse(std::string expected, std::string got);
/// User's text made safe to print: quoted, truncated, control bytes as '?'; "the end of the line" when empty.
[[nodiscard]] std::string shown(std::string_view text);
/// `text` without spaces, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Reader of one line. Every step skips the spaces after the token it takes, and throws Refusal for a token that does
/// not fit. The returned views point into the line.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : rest_(trimmed(line)) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool at(char c) const { return !rest_.empty() && rest_.front() == c; }
  /// Takes `c` if it is next.
  bool accept(char c);
  void expect(char c);
  void expect_end() const;
  /// Takes letters, digits, '_' and '.'; `expected` describes them in the refusal.
  std::string_view word(std::string_view expected);
  /// Returns the text up to the next ',' or ')' outside brackets.
  std::string_view value();
  /// A name in double quotes, with \" \\ and \n.
  std::string quoted();

 private:
  std::string_view take(std::size_t length);

  std::string_view rest_;
};

}  // namespace roentgen::graph
