// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/foreign_text.h"

namespace roentgen::cli {
namespace {

constexpr std::size_t kWidth = 110;

bool is_table_of_tables(const Value& value) {
  return value.is_table() && !value.as_table().empty() &&
         std::ranges::all_of(value.as_table(), [](const auto& entry) { return entry.second.is_table(); });
}

bool is_array_of_tables(const Value& value) {
  return value.is_array() && !value.as_array().empty() && std::ranges::all_of(value.as_array(), &Value::is_table);
}

std::string number_text(double value) {
  return std::abs(value) >= 1e4 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// Formats a value as one line: "a b c" for an array, "key value, key value" for a table.
std::string inline_text(const Value& value, bool is_bytes) {
  if (value.is_null()) return "-";
  if (value.is_bool()) return value.as_bool() ? "yes" : "no";
  if (value.is_integer() && is_bytes) {
    const double mebibytes = value.as_double() / (1 << 20);
    if (mebibytes > 0.0 && mebibytes < 1.0) return fmt::format("{:.1f} KiB", value.as_double() / (1 << 10));
    return mebibytes < 1024.0 ? fmt::format("{:.1f} MiB", mebibytes) : fmt::format("{:.1f} GiB", mebibytes / 1024);
  }
  if (value.is_integer()) return fmt::to_string(value.as_integer());
  if (value.is_double()) return number_text(value.as_double());
  if (value.is_string()) return terminal_text(value.as_string());
  std::string text;
  if (value.is_array()) {
    for (const Value& each : value.as_array()) text += (text.empty() ? "" : " ") + inline_text(each, is_bytes);
  } else {
    for (const auto& [key, each] : value.as_table()) {
      text += (text.empty() ? "" : ", ") + terminal_text(key) + " " + inline_text(each, key.ends_with("bytes"));
    }
  }
  return text.empty() ? "-" : text;
}

/// Wraps a text at spaces and indents all lines but the first.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (column > indent && column + 1 + end - begin > kWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += text.substr(begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return result;
}

/// Formats an array of tables as a text table, whose columns are the keys of the first table. Words are aligned left,
/// numbers right. Columns in `left_out` are not shown.
std::string columns_text(const Value::Array& all, std::initializer_list<std::string_view> left_out) {
  Value::Array rows = all;
  for (Value& row : rows) {
    std::erase_if(row.as_table(),
                  [&](const auto& entry) { return std::ranges::find(left_out, entry.first) != left_out.end(); });
  }
  std::string text;
  std::vector<std::vector<std::string>> cells(rows.size() + 1);
  std::vector<std::size_t> widths;
  for (const auto& [key, first] : rows.front().as_table()) {
    std::size_t width = key.size();
    cells[0].push_back(key);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Value* value = rows[i].find(key);
      cells[i + 1].push_back(value == nullptr ? "-" : inline_text(*value, key.ends_with("bytes")));
      width = std::max(width, cells[i + 1].back().size());
    }
    widths.push_back(width);
  }
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool is_word = rows.front().as_table()[c].second.is_string();
      line += fmt::format(fmt::runtime(is_word ? "  {:<{}}" : "  {:>{}}"), row[c], widths[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string report_text(const Value& report, std::initializer_list<std::string_view> left_out) {
  std::vector<std::pair<std::string, const Value*>> lines;
  std::size_t width = 0;
  const auto add = [&](const std::string& key, const Value& value) {
    if (!is_array_of_tables(value)) width = std::max(width, key.size());
    lines.emplace_back(terminal_text(key), &value);
  };
  for (const auto& [key, value] : report.as_table()) {
    if (std::ranges::find(left_out, key) != left_out.end()) continue;
    if (!is_table_of_tables(value)) {
      add(key, value);
      continue;
    }
    for (const auto& [inner, each] : value.as_table()) add(fmt::format("{}.{}", key, inner), each);
  }
  std::string text;
  for (const auto& [key, value] : lines) {
    if (is_array_of_tables(*value)) {
      text += key + "\n" + columns_text(value->as_array(), left_out);
    } else {
      text += fmt::format("{:<{}}  {}\n", key, width, wrapped(inline_text(*value, key.ends_with("bytes")), width + 2));
    }
  }
  return text;
}

}  // namespace roentgen::cli
