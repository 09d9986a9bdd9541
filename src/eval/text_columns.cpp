// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/text_columns.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/foreign_text.h"

namespace roentgen::eval {
namespace {
// Characters, not bytes: label names can be UTF-8.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}
}  // namespace

std::string side_by_side(std::vector<TextColumn> columns, LastLine last) {
  RG_ASSERT(!columns.empty() && !columns[0].cells.empty());
  for (TextColumn& column : columns) {
    column.title = terminal_text(column.title);
    for (std::string& cell : column.cells) cell = terminal_text(cell);
  }
  std::vector<std::size_t> widths;
  std::size_t total = 2 * (columns.size() - 1);
  for (const TextColumn& column : columns) {
    RG_ASSERT(column.cells.size() == columns[0].cells.size());
    std::size_t width = display_width(column.title);
    for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
    widths.push_back(width);
    total += width;
  }
  std::string text;
  const auto line = [&](auto cell_of) {
    std::string row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = cell_of(columns[i]);
      const std::string padding(widths[i] - display_width(cell), ' ');
      row += i == 0 ? cell + padding : "  " + padding + cell;
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  };
  const std::string rule = std::string(total, '-') + "\n";
  line([](const TextColumn& column) -> const std::string& { return column.title; });
  text += rule;
  const std::size_t count = columns[0].cells.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i + 1 == count && last == LastLine::Apart) text += rule;
    line([i](const TextColumn& column) -> const std::string& { return column.cells[i]; });
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
