// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/table_column.h"

#include <algorithm>
#include <cctype>

namespace roentgen::cli {
namespace {
constexpr std::size_t kShown = 20;

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}
}  // namespace

std::string table_field(const std::vector<std::string>& row, std::optional<std::size_t> column) {
  if (!column || *column >= row.size()) return {};
  const std::string& text = row[*column];
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::size_t> table_column(const std::vector<std::string>& header,
                                        std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::ranges::find(names, lower_case(table_field(header, i))) != names.end()) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> image_column(const std::vector<std::string>& header) {
  return table_column(header, {"image index", "image", "path", "file", "filename", "imageid"});
}

std::optional<std::size_t> study_column(const std::vector<std::string>& header) {
  const auto own = table_column(header, {"study", "study_id", "study id", "studyid"});
  return own ? own : table_column(header, {"follow-up #"});
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

}  // namespace roentgen::cli
