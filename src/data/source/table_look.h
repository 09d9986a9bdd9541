// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Detects columns of an image table that may be labels, patient and split, if the user has not named them. Used for
// proposals; list_csv() reads tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/table_fields.h"

namespace roentgen::io {
struct Csv;
}

namespace roentgen::data {

class TableFiles;

/// Columns of a table and what they seem to contain.
struct TableLook {
  /// Proposed SourceOptions::labels: columns with values such as 1, 0, -1, yes and no, at least one of them positive.
  /// If there are none, "column:value" for the values of `class_column`. Empty if nothing looks like a label.
  std::vector<std::string> labels{};
  std::string class_column{};          ///< column whose values are in `labels`; empty: none
  std::vector<std::string> normals{};  ///< values of `class_column` that mean no finding and therefore are no labels
  std::vector<std::string> unsure{};   ///< other columns with few distinct values, which might be classes
  /// Columns that are labels but for a few fields, with the line of the first such field: "sick (line 50)".
  std::vector<std::string> nearly{};
  std::vector<std::string> marked{};  ///< columns with one text, such as "x", and empty fields
  std::vector<std::string> absent{};  ///< columns of label values without a positive one
  /// Value of `class_column` that is no label, because it is the opposite of the only label. Each row has one of the
  /// two values. The rarer value is the label. Empty: none.
  std::string opposite{};
  std::string patient{};               ///< patient column; empty: none
  std::string split{};                 ///< split column; empty: none
  std::vector<std::string> columns{};  ///< names of all columns
};

/// Tables directly in a folder (.csv, .tsv, .txt, also with .gz) that have at least two columns, sorted by name.
[[nodiscard]] std::vector<std::filesystem::path> tables_in(const std::filesystem::path& folder, TableFiles& files);

/// Tables in a folder, as the dataset reader csv chooses them if none is named.
struct FoundTables {
  /// Tables to read: labels.csv, else the tables with a common header that name most of the existing images. Tables
  /// with a possible label column are preferred.
  std::vector<std::filesystem::path> read{};
  std::vector<std::filesystem::path> others{};  ///< other tables that name existing images
  std::vector<std::filesystem::path> absent{};  ///< tables that name no existing image
  std::vector<std::filesystem::path> tied{};    ///< tables of `others` that name as many images as `read`
  bool may_have_labels = true;                  ///< false if no column of `read` looks like labels
};

/// Searches a folder for tables with a column of image files. Returned paths are relative to the folder.
/// TableFiles::found_in() caches the result.
/// @param image name of that column; empty: found by its usual names
[[nodiscard]] FoundTables find_tables(const std::filesystem::path& folder, TableFiles& files,
                                      const std::string& image = {});

/// Image names in a table, unchanged.
/// @param image name of their column; empty: found by its usual names
[[nodiscard]] std::vector<std::string> image_names(const io::Csv& table, const std::string& image = {});

/// Notes that say which tables are read as one and which are not read.
[[nodiscard]] std::vector<std::string> notes_on(const FoundTables& tables);

/// True if all fields of a column are valid label values and at least one is positive.
[[nodiscard]] bool is_label_column(const io::Csv& table, std::size_t column);

/// Examines all rows of a table.
[[nodiscard]] TableLook look_at_table(const io::Csv& table, const GivenColumns& given = {});

/// True for a value or folder that means that there is no finding: "normal", "No Finding", "negative", "healthy", also
/// in German.
[[nodiscard]] bool means_no_finding(std::string_view value);

}  // namespace roentgen::data
