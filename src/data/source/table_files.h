// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TableFiles: cache of the tables in data folders. Each table is parsed once, both to detect the format of the data set
// and to read its rows.
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

/// Reads tables of data folders. Each file is opened at most once for its header and once for its rows. References stay
/// valid while the object exists. Not thread-safe.
class TableFiles {
 public:
  /// Header of a csv, read without its rows. Empty if the file is no csv or cannot be read.
  [[nodiscard]] const std::vector<std::string>& header(const std::filesystem::path& path);
  /// Content of a csv. Throws DataError if it cannot be read.
  [[nodiscard]] const io::Csv& table(const std::filesystem::path& path);
  /// Table with the rows of all `paths` that have the header of the first. Throws DataError if a file cannot be read.
  [[nodiscard]] const io::Csv& joined(const std::vector<std::filesystem::path>& paths);
  /// Result of find_tables() for a folder and a column of image files.
  [[nodiscard]] const FoundTables& found_in(const std::filesystem::path& folder, const std::string& image = {});

 private:
  std::map<std::filesystem::path, std::vector<std::string>> headers_;
  std::map<std::filesystem::path, io::Csv> tables_;
  std::map<std::vector<std::filesystem::path>, io::Csv> joined_;
  std::map<std::pair<std::filesystem::path, std::string>, FoundTables> found_;
};

/// Variants of load_dataset(), fits_source() and detected_source() that share tables across calls. The folder must not
/// change between the calls.
[[nodiscard]] Dataset load_dataset(const SourceOptions& options, TableFiles& tables);
[[nodiscard]] bool fits_source(const SourceOptions& options, TableFiles& tables);  ///< see dataset.h
/// See dataset.h.
[[nodiscard]] std::string_view detected_source(const SourceOptions& options, TableFiles& tables);

}  // namespace roentgen::data
