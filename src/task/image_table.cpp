// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/image_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/lower_case.h"
#include "core/plural.h"
#include "data/source/image_columns.h"
#include "data/source/table_fields.h"
#include "data/source/table_look.h"

namespace roentgen::task {
namespace {

namespace fs = std::filesystem;

// Joins names and shortens long lists: "a, b, c and 17 more".
std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  return data::first_names(names, kShown);
}

/// Names of spreadsheets directly in the folder.
std::vector<std::string> spreadsheets_in(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    const std::string extension = lower_case(entry.path().extension().string());
    if (extension == ".xlsx" || extension == ".xls" || extension == ".ods") {
      names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

/// Names of tables directly in the folder that this user may not read.
std::vector<std::string> closed_tables_in(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    const std::string extension = lower_case(entry.path().extension().string());
    const bool is_table = extension == ".csv" || extension == ".tsv" || extension == ".txt";
    if (is_table && entry.is_regular_file(ignored) && !std::ifstream(entry.path())) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

/// Tables in which a column of image files is searched for: those that the user named, or all in the folder.
std::vector<fs::path> candidate_tables(const data::SourceOptions& source, data::TableFiles& files) {
  std::vector<fs::path> tables;
  for (const fs::path& path : source.csv) tables.push_back(source.root / path);
  if (!tables.empty()) return tables;
  for (fs::path& path : data::tables_in(source.root, files)) {
    const std::string name = path.filename().string();
    if (name == "labels.csv" || name == "labels.csv.gz") return {path};  // the dataset reader reads no other table
    tables.push_back(std::move(path));
  }
  return tables;
}

/// True if a dataset reader finds images or records without the name of a column. DICOM files and folders of classes do
/// not count, because a table may describe them.
bool is_readable(const data::SourceOptions& source, data::TableFiles& files) {
  if (!source.csv.empty() || source.source == "csv" || !data::fits_source(source, files)) return false;
  const std::string_view reader = data::detected_source(source, files);
  return reader != "dicom" && reader != "class_folders";
}

}  // namespace

std::string choose_image_column(data::SourceOptions& source, data::TableFiles& files) {
  if (!source.image.empty() || (source.source != "auto" && source.source != "csv")) return {};
  if (is_readable(source, files)) return {};
  struct Found {
    std::string table;
    data::ImageColumn column;
  };
  std::vector<Found> found;
  for (const fs::path& path : candidate_tables(source, files)) {
    const std::vector<std::string>& header = files.header(path);
    if (header.empty() || data::image_column(header)) continue;
    for (data::ImageColumn& column : data::columns_of_images(files.table(path), source.root, source.patient)) {
      found.push_back({path.filename().string(), std::move(column)});
    }
  }
  if (found.empty()) return {};
  const data::ImageColumn& chosen = found.front().column;
  if (std::ranges::any_of(found, [&](const Found& one) { return one.column.name != chosen.name; })) {
    std::vector<std::string> names;
    for (const Found& one : found) names.push_back(fmt::format("{} of {}", one.column.name, one.table));
    throw DataError(error_text("task.init", source.root.string(), "one column that names image files", joined(names),
                               fmt::format("--set data.image={} or another of them", chosen.name)));
  }
  data::SourceOptions with_column = source;
  with_column.image = chosen.name;
  // Folders of classes come before a table without labels.
  if (!data::fits_source(with_column, files) || data::detected_source(with_column, files) != "csv") return {};
  source.image = chosen.name;
  return fmt::format(
      "image files are read from column {} of {}, because {} of {} name existing files; to use another "
      "column, set data.image",
      chosen.name, found.front().table, chosen.images, counted(chosen.rows, "examined row"));
}

void refuse_unlabelled(const fs::path& root, std::int64_t images, data::TableFiles& tables) {
  std::vector<std::string> others;
  for (const fs::path& path : data::tables_in(root, tables)) {
    const std::vector<std::string>& header = tables.header(path);
    if (data::image_column(header)) continue;
    others.push_back(fmt::format("{} has columns {}", path.filename().string(), joined(header)));
  }
  std::string remedy =
      "adding a labels.csv with the columns path, patient and one column of 1 and 0 per label, or a folder for each "
      "class; roentgen predict needs no labels";
  if (!others.empty())
    remedy = "--set data.image=COLUMN with the column of image files; no column names files that exist";
  const std::vector<std::string> closed = closed_tables_in(root), sheets = spreadsheets_in(root);
  if (!closed.empty()) {
    others.push_back("without permission to read " + joined(closed));
    remedy = "changing the permissions of " + joined(closed);
  } else if (others.empty() && !sheets.empty()) {
    others.push_back(joined(sheets) + " cannot be read");
    remedy = "saving the spreadsheet as labels.csv";
  }
  throw DataError(error_text("task.init", root.string(), "images with labels",
                             fmt::format("{} and no table that lists them{}", counted(images, "image"),
                                         others.empty() ? "" : fmt::format(" ({})", fmt::join(others, "; "))),
                             remedy));
}

}  // namespace roentgen::task
