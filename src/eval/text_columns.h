// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Columns of text side by side, for tables on a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::eval {

/// Cells of a line.
using TextRow = std::vector<std::string>;

/// Whether a rule separates the last line from the others.
enum class LastLine : std::uint8_t { Alike, Apart };

/// The first column to the left, the rest to the right, two spaces between. The first row has the headings, with a rule
/// below it. Widths count characters of UTF-8. No spaces at the ends of lines. Rows have equally many cells, one at
/// least, and there are two rows or more. Cells may be foreign text.
[[nodiscard]] std::string in_columns(std::vector<TextRow> rows, LastLine last);

/// Collects names by the statement that holds for them.
class ReasonList {
 public:
  /// Adds `name` to those with `reason`; does nothing for an empty reason.
  void add(std::string_view reason, const std::string& name);
  /// "No interval, undefined in more than 10% of the resamples: Mass, mean." a line a reason; "" without any.
  [[nodiscard]] std::string lines(std::string_view lead) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

/// 25596 as "25,596".
[[nodiscard]] std::string with_commas(std::int64_t count);

}  // namespace roentgen::eval
