// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/text_columns.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/error.h"
#include "core/foreign_text.h"

namespace roentgen::eval {
namespace {
// Returns the number of UTF-8 characters, which may be fewer than the bytes of a label name.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}
}  // namespace

std::string in_columns(std::vector<TextRow> rows, LastLine last) {
  RG_ASSERT(rows.size() > 1);
  std::vector<std::size_t> widths(rows[0].size());
  for (TextRow& row : rows) {
    RG_ASSERT(row.size() == widths.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = terminal_text(row[i]);
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  const std::size_t total = std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1));
  const std::string rule = std::string(total, '-') + "\n";
  std::string text;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row == 1) text += rule;
    if (row + 1 == rows.size() && last == LastLine::Apart) text += rule;
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = rows[row][i];
      const std::string padding(widths[i] - display_width(cell), ' ');
      line += i == 0 ? cell + padding : "  " + padding + cell;
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

void ReasonList::add(std::string_view reason, const std::string& name) {
  if (reason.empty()) return;
  std::string& list = names_[std::string(reason)];
  list += (list.empty() ? "" : ", ") + terminal_text(name);
}

std::string ReasonList::lines(std::string_view lead) const {
  std::string text;
  for (const auto& [reason, list] : names_) text += std::string(lead) + ", " + reason + ": " + list + ".\n";
  return text;
}

std::string with_commas(std::int64_t count) {
  std::string digits = std::to_string(count);
  for (auto i = std::ssize(digits) - 3; i > 0; i -= 3) digits.insert(static_cast<std::size_t>(i), 1, ',');
  return digits;
}

}  // namespace roentgen::eval
