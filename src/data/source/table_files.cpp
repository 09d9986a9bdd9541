// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/table_files.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "data/source/source.h"
#include "data/source/table_fields.h"

namespace roentgen::data {

namespace fs = std::filesystem;

namespace {

/// Removes rows whose fields are all blank. Spreadsheets write such rows (";;;") below the last row of data.
void drop_blank_rows(io::Csv& table) {
  const auto is_blank = [](const std::vector<std::string>& row) {
    return std::ranges::all_of(row, [](const std::string& text) { return stripped(text).empty(); });
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (is_blank(table.rows[i])) continue;
    if (kept < i) table.rows[kept] = std::move(table.rows[i]);
    table.lines[kept++] = table.lines[i];
  }
  table.rows.resize(kept);
  table.lines.resize(kept);
}

}  // namespace

const std::vector<std::string>& TableFiles::header(const fs::path& path) {
  if (const auto known = tables_.find(path); known != tables_.end()) return known->second.header;
  const auto [position, is_new] = headers_.try_emplace(path);
  if (is_new) {
    if (auto header = read_csv_header(path); header.ok()) position->second = std::move(header).value();
  }
  return position->second;
}

const io::Csv& TableFiles::table(const fs::path& path) {
  const auto known = tables_.find(path);
  if (known != tables_.end()) return known->second;
  io::Csv read = io::read_csv(path).or_throw<DataError>();
  drop_blank_rows(read);
  return tables_.emplace(path, std::move(read)).first->second;
}

const io::Csv& TableFiles::joined(const std::vector<fs::path>& paths) {
  const io::Csv& first = table(paths.front());
  if (paths.size() == 1) return first;
  const auto [position, is_new] = joined_.try_emplace(paths, first);
  io::Csv& all = position->second;
  for (std::size_t i = 1; is_new && i < paths.size(); ++i) {
    const io::Csv& next = table(paths[i]);
    if (next.header != all.header) continue;
    all.rows.insert(all.rows.end(), next.rows.begin(), next.rows.end());
    all.lines.insert(all.lines.end(), next.lines.begin(), next.lines.end());
  }
  return all;
}

const FoundTables& TableFiles::found_in(const fs::path& folder, const std::string& image) {
  const std::pair key(folder, image);
  const auto known = found_.find(key);
  return known != found_.end() ? known->second : found_.emplace(key, find_tables(folder, *this, image)).first->second;
}

}  // namespace roentgen::data
