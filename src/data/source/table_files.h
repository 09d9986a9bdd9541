// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TableFiles: the tables of data folders, each parsed once, from the search for a source to the rows that it reads.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/source/dataset.h"
#include "data/source/table_look.h"
#include "io/csv.h"

namespace roentgen::data {

/// Tables that a TableFiles owns.
using TableRefs = std::vector<std::reference_wrapper<const io::Csv>>;

/// Tables of data folders. Each file is opened once for its header and once for its rows, however many sources ask.
/// References stay valid as long as the object. One thread.
class TableFiles {
 public:
  /// Header of a csv, whose rows are not read; empty: no csv, or unreadable.
  [[nodiscard]] const std::vector<std::string>& header(const std::filesystem::path& path);
  /// Content of a csv. Throws DataError when it is unreadable.
  [[nodiscard]] const io::Csv& table(const std::filesystem::path& path);
  /// First table with the rows of all that have its header. DataError when one is unreadable.
  [[nodiscard]] const io::Csv& joined(const std::vector<std::filesystem::path>& paths);
  /// Tables that find_tables() finds in a folder.
  [[nodiscard]] const FoundTables& found_in(const std::filesystem::path& folder);

 private:
  std::map<std::filesystem::path, std::vector<std::string>> headers_;
  std::map<std::filesystem::path, io::Csv> tables_;
  std::map<std::vector<std::filesystem::path>, io::Csv> joined_;
  std::map<std::filesystem::path, FoundTables> found_;
};

/// load_dataset(), fits_source() and detected_source() for several calls on one folder, which must not change in
/// between.
[[nodiscard]] Dataset load_dataset(const SourceOptions& options, TableFiles& tables);
[[nodiscard]] bool fits_source(const SourceOptions& options, TableFiles& tables);  ///< see load_dataset()
/// See load_dataset().
[[nodiscard]] std::string_view detected_source(const SourceOptions& options, TableFiles& tables);

}  // namespace roentgen::data
