// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Columns of a table of images that may be labels, patient and split, before anybody said how to read it. For
// proposals; list_csv() reads tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::io {
struct Csv;
}

namespace roentgen::data {

class TableFiles;

/// Columns of a table and how they read.
struct TableLook {
  /// Names for SourceOptions::labels: columns of 1, 0, -1, yes, no, ... with a positive, or where there are none,
  /// "column:value" for the values of `class_column`. Empty: nothing reads as a label.
  std::vector<std::string> labels{};
  std::string class_column{};          ///< column whose values `labels` are; empty: none
  std::vector<std::string> normals{};  ///< values of `class_column` that mean no finding, and are no label
  std::vector<std::string> unsure{};   ///< other columns of a few values each, which might be classes
  std::string patient{};               ///< column of patients; empty: none
  std::string split{};                 ///< column of splits; empty: none
  std::vector<std::string> columns{};  ///< all names
};

/// Tables that lie directly in a folder (.csv, .tsv, .txt, each also .gz) and have two columns or more, by name.
[[nodiscard]] std::vector<std::filesystem::path> tables_in(const std::filesystem::path& folder, TableFiles& files);

/// Tables of a folder as the source csv chooses them, where none is named.
struct FoundTables {
  /// Tables to read: labels.csv, else those of one header that name most of the existing images. Tables with a possible
  /// label column come first.
  std::vector<std::filesystem::path> read{};
  std::vector<std::filesystem::path> others{};  ///< further tables that name existing images
  std::vector<std::filesystem::path> absent{};  ///< tables that name no existing image
  std::vector<std::filesystem::path> tied{};    ///< tables of `others` that name as many images as `read`
  bool may_have_labels = true;                  ///< false: no column of `read` looks like one of labels
};

/// Looks in a folder for tables with a column of image files; paths are relative to it. TableFiles::found_in() keeps
/// the result.
[[nodiscard]] FoundTables find_tables(const std::filesystem::path& folder, TableFiles& files);

/// Names of the images in a table, as it writes them.
[[nodiscard]] std::vector<std::string> image_names(const io::Csv& table);

/// Sentences on found tables: several that are read as one, and those that are not read.
[[nodiscard]] std::vector<std::string> notes_on(const FoundTables& tables);

/// True for a column whose fields all read as labels, with a positive among them.
[[nodiscard]] bool is_label_column(const io::Csv& table, std::size_t column);

/// Looks at all rows of a table.
/// @param patient column of the patients; empty: found by its name
[[nodiscard]] TableLook look_at_table(const io::Csv& table, const std::string& patient = {});

/// True for a value or a folder that means the absence of any finding: "normal", "No Finding", "negative", "healthy".
[[nodiscard]] bool means_no_finding(std::string_view value);

}  // namespace roentgen::data
