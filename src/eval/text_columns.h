// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Formats text tables for a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::eval {

/// Cells of one line of a text table.
using TextRow = std::vector<std::string>;

/// Apart: a horizontal line separates the last line of the table from the lines above it.
enum class LastLine : std::uint8_t { Alike, Apart };

/// Formats rows as a text table: first column flush left, others flush right, two spaces between columns. The first row
/// has the headings, with a horizontal line below it. Widths count UTF-8 characters. Lines have no trailing spaces. All
/// rows must have the same number of cells, at least one, and there must be two rows or more. Cells may contain any
/// text.
[[nodiscard]] std::string in_columns(std::vector<TextRow> rows, LastLine last);

/// Collects names under their reason, for footnotes below a table such as "undefined, only one class is present: Mass".
class ReasonList {
 public:
  /// Adds `name` to the names with this reason; does nothing if `reason` is empty.
  void add(std::string_view reason, const std::string& name);
  /// Returns one line per reason, such as "No interval, undefined in more than 10% of the resamples: Mass, mean."; ""
  /// without reasons.
  [[nodiscard]] std::string lines(std::string_view lead) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

/// Formats a count with commas: 25596 becomes "25,596".
[[nodiscard]] std::string with_commas(std::int64_t count);

}  // namespace roentgen::eval
