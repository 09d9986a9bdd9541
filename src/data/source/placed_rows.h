// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Rows whose images have a known path, given in the row or derived from it, as in the sources csv, chexpert, mimic and
// padchest. For src/data/source only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "data/source/folder_files.h"
#include "data/source/source.h"

namespace roentgen::data {

/// Takes each image once and counts absent and repeated ones. One thread.
class PlacedRows {
 public:
  /// Reads the labels of the current row.
  using ReadLabels = std::function<std::vector<float>()>;

  /// @param options must outlive it, as `listing` must
  /// @param files looks up the places of images
  PlacedRows(const SourceOptions& options, Listing& listing, FolderFiles files = FolderFiles())
      : options_(options), listing_(listing), files_(std::move(files)) {}

  /// Counts a row and appends its sample to the listing, with the path that FolderFiles::find() finds for `places`
  /// (with ImageFiles::Unneeded the first of them, unseen). Remembers instead a row whose image came before, by its id
  /// or its path in any spelling, or is absent. DataError when a folder is in the image's place, or several files fit.
  /// @param where place of the row, for errors
  /// @param read_labels called unless the image is absent
  void add(Sample sample, const std::vector<std::filesystem::path>& places, std::string_view where,
           const ReadLabels& read_labels);
  /// Remembers the places of a row that is counted elsewhere, so that its image is not one that no row names.
  void pass_over(const std::vector<std::filesystem::path>& places);
  /// Refuses or notes repeated or absent images, as the options say, and notes image files that no row names.
  void settle();

 private:
  /// Indices into listing.samples of images that came before; none of an absent image.
  using Numbers = std::unordered_map<std::string, std::optional<std::size_t>>;
  /// Notes image files that no row names, below the data folder and in the rows' folders elsewhere. Notes folders
  /// directly below the data folder without any named image. Counts images in companion and hidden folders apart. Lists
  /// each folder once more.
  void note_unnamed();

  const SourceOptions& options_;
  Listing& listing_;
  FolderFiles files_;
  /// Row numbers by normalised id and path.
  Numbers ids_, paths_;
  std::unordered_set<std::string> passed_over_;  ///< paths in normal form
  std::vector<std::string> absent_;
  Repeats repeats_;
  std::int64_t rows_ = 0;
};

}  // namespace roentgen::data
