// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the columns of a table whose fields name existing image files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace roentgen::io {
struct Csv;
}

namespace roentgen::data {

class FolderFiles;

/// Names in a column that are images in the folder. Checks the extension, or, if there is none, whether the first such
/// file is DICOM.
[[nodiscard]] std::set<std::string> present_images(const io::Csv& table, std::size_t column,
                                                   const std::filesystem::path& folder, FolderFiles& files);

/// A column whose fields name existing image files.
struct ImageColumn {
  std::string name{};       ///< name of the column
  std::int64_t images = 0;  ///< number of examined rows whose field names an existing image
  std::int64_t rows = 0;    ///< number of examined rows
};

/// Columns that name existing images in at least nine of ten rows, rarely the same one twice. Columns of patient, view,
/// sex and age are left out. Examines at most 1,000 rows, evenly spread.
/// @param patient name of the patient column; empty: found by its usual names
[[nodiscard]] std::vector<ImageColumn> columns_of_images(const io::Csv& table, const std::filesystem::path& folder,
                                                         const std::string& patient = {});

}  // namespace roentgen::data
