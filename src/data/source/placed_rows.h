// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds table rows whose image path is stated in the row or derived from it (dataset readers csv, chexpert, mimic and
// padchest). For src/data/source only.
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

/// Adds each image once, and counts rows with absent and repeated images. Not thread-safe.
class PlacedRows {
 public:
  /// Function that reads the labels of the current row.
  using ReadLabels = std::function<std::vector<float>()>;

  /// @param options must outlive the object, as must `listing`
  /// @param files finds the files of images
  PlacedRows(const SourceOptions& options, Listing& listing, FolderFiles files = FolderFiles())
      : options_(options), listing_(listing), files_(std::move(files)) {}

  /// Counts a row and appends its sample to the listing. Its path is the one that FolderFiles::find() returns for
  /// `places`; with ImageFiles::Unneeded it is the first place, unchecked. If the image is absent, or came before under
  /// the same id or path, the row is only recorded. Throws DataError if the path is a folder or several files match.
  /// @param where position of the row, for errors
  /// @param read_labels called unless the image is absent
  void add(Sample sample, const std::vector<std::filesystem::path>& places, std::string_view where,
           const ReadLabels& read_labels);
  /// Marks the candidate paths of a row that is counted elsewhere, so that its image is not reported as unnamed.
  void pass_over(const std::vector<std::filesystem::path>& places);
  /// Throws DataError or adds notes for repeated and absent images, depending on the options. Adds notes on image files
  /// that no row names.
  void settle();

 private:
  /// Indices into listing.samples of images met so far; nullopt for absent images.
  using Numbers = std::unordered_map<std::string, std::optional<std::size_t>>;
  /// Adds notes on image files that are not in the table, below the data folder and in other folders that rows use.
  /// Also notes folders directly below the data folder without any named image. Counts images in companion and hidden
  /// folders separately. Lists each folder once more.
  void note_unnamed();

  const SourceOptions& options_;
  Listing& listing_;
  FolderFiles files_;
  /// Indices of samples by normalised id and by path.
  Numbers ids_, paths_;
  std::unordered_set<std::string> passed_over_;  ///< normalised paths that pass_over() got
  std::vector<std::string> absent_;
  Repeats repeats_;
  std::int64_t rows_ = 0;
};

}  // namespace roentgen::data
