// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Rows whose images have a place of their own (a path, or one that follows from the row), as in the sources csv,
// chexpert, mimic and padchest. For src/data/source only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "data/source/folder_files.h"
#include "data/source/source.h"

namespace roentgen::data {

/// Takes each image once and keeps count of what is absent or comes twice. One thread.
class PlacedRows {
 public:
  /// Both outlive it.
  PlacedRows(const SourceOptions& options, Listing& listing) : options_(options), listing_(listing) {}

  /// Counts a row and sets sample.path to the first of `places` that is a file, as it is or with an image's ending
  /// behind it, or to the last when none is (with ImageFiles::Unneeded to the first, unseen). False, and remembered,
  /// when that image came before (by its id or its path, in any spelling) or is absent. DataError when a folder is in
  /// its place, or when several files have its name and different endings.
  /// @param where of the row, for errors
  [[nodiscard]] bool take(Sample& sample, const std::vector<std::filesystem::path>& places, std::string_view where);
  /// Remembers the places of a row that is counted elsewhere, so that its image is not one that no row names.
  void pass_over(const std::vector<std::filesystem::path>& places);
  /// Refuses or notes what was repeated or absent, as the options say, and notes image files that no row names.
  void settle();

 private:
  /// The first of `places` that is a file, or else an image file's name without its ending; nullopt: none.
  [[nodiscard]] std::optional<std::filesystem::path> find(const std::vector<std::filesystem::path>& places);
  /// Notes the image files below the data folder, and in the rows' folders elsewhere, that no row names; among them,
  /// folders directly below the data folder of which no row names an image; and images in companion and hidden folders
  /// apart. Lists each folder once more.
  void note_unnamed();

  const SourceOptions& options_;
  Listing& listing_;
  FolderFiles files_;
  /// In normal form.
  std::unordered_set<std::string> ids_, paths_, passed_over_;
  std::vector<std::string> absent_, repeated_;
  std::int64_t rows_ = 0;
};

}  // namespace roentgen::data
