// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/image_columns.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "data/source/dicom_choice.h"
#include "data/source/folder_files.h"
#include "data/source/image_index.h"
#include "data/source/table_fields.h"
#include "io/csv.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Longest text that can be a path.
constexpr std::size_t kLongestPath_bytes = 1024;

/// At most 1,000 rows of a table, evenly spread.
io::Csv some_rows(const io::Csv& table) {
  constexpr std::size_t kRows = 1000;
  io::Csv some;
  some.header = table.header;
  const std::size_t count = std::min(kRows, table.rows.size());
  for (std::size_t i = 0; i < count; ++i) some.rows.push_back(table.rows[i * table.rows.size() / count]);
  return some;
}

/// True if at least nine of ten are `part`.
bool are_nearly_all(std::int64_t part, std::int64_t all) { return all > 0 && 10 * part >= 9 * all; }

}  // namespace

std::set<std::string> present_images(const io::Csv& table, std::size_t column, const fs::path& folder,
                                     FolderFiles& files) {
  std::optional<bool> are_dicom;  // whether names without extension are DICOM files; only the first file is checked
  const auto is_image = [&](const std::string& name) {
    try {
      const auto file = files.find(places_of(name, {folder}));
      if (!file || has_image_extension(*file)) return file.has_value();
      if (!may_be_dicom(*file)) return false;
      if (!are_dicom) are_dicom = starts_as_dicom(*file);
      return *are_dicom;
    } catch (const DataError&) {  // several files match, which is refused when the table is read
      return true;
    }
  };
  std::set<std::string> images;
  for (const auto& row : table.rows) {
    std::string name = field(row, column);
    if (name.empty() || name.size() > kLongestPath_bytes || images.contains(name)) continue;
    if (is_image(name)) images.insert(std::move(name));
  }
  return images;
}

std::vector<ImageColumn> columns_of_images(const io::Csv& table, const fs::path& folder, const std::string& patient) {
  const FactColumns facts = find_facts(table.header, patient);
  const io::Csv some = some_rows(table);
  const auto rows = std::ssize(some.rows);
  FolderFiles files(folder);
  std::vector<ImageColumn> columns;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const std::optional column(i);
    const std::string name(stripped(table.header[i]));
    if (name.empty() || column == facts.patient || column == facts.view || column == facts.sex || column == facts.age) {
      continue;
    }
    std::set<std::string> distinct;
    for (const auto& row : some.rows) distinct.insert(field(row, i));
    if (!are_nearly_all(std::ssize(distinct), rows)) continue;
    const std::set<std::string> images = present_images(some, i, folder, files);
    const std::int64_t named =
        std::ranges::count_if(some.rows, [&](const auto& row) { return images.contains(field(row, i)); });
    if (are_nearly_all(named, rows)) columns.push_back({.name = name, .images = named, .rows = rows});
  }
  return columns;
}

}  // namespace roentgen::data
