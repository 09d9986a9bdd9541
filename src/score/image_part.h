// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selects the images of a data set to evaluate: a split, or the images of a list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"
#include "score/prediction_file.h"

namespace roentgen::score {

/// Image names from a list file.
struct NamedImages {
  /// Description of the list for people: "list test_list.txt".
  std::string title;
  std::vector<std::string> names;  ///< names, in the order of the file
  /// Result of io::name_list_sha256 for the names.
  std::string list_sha256;
};

/// Subset of a data folder's images.
struct Part {
  /// Description for people: "split test", or NamedImages::title.
  std::string title;
  /// Short name: "test", "train", "val" or "list".
  std::string name;
  /// Indices into Dataset::samples.
  std::vector<std::uint32_t> samples;
  /// Number of distinct known patients.
  std::int64_t patients = 0;
  std::string list_sha256;  ///< io::name_list_sha256 of the image names
};

/// Finds the images that --list selects. `list` is a file, "official" (NIH's test list) or the id of a known list
/// (eval/split_list.h). A file has one name per line; text after the name is ignored. A known list is read from the
/// folder's test_list.txt or from the recipe's data.test_list. Throws DataError with the two counts if the names in
/// that file do not have the hash of the list.
/// @param source data folder and options of the recipe
[[nodiscard]] NamedImages find_list(const std::string& list, const data::SourceOptions& source);
/// Reads the names in a file as find_list() does. Throws DataError as data::read_name_list() does.
[[nodiscard]] NamedImages read_list(const std::filesystem::path& path);

/// Describes a list of images for people: "list 4f2a9c01b7de (not a published list)". The digits are the first 12 of
/// its hash.
[[nodiscard]] std::string list_text(const std::string& list_sha256);
/// Returns the line that describes the selected images, shown above the table of results.
[[nodiscard]] std::string part_text(const Part& part);

/// Returns the images of a split. Throws DataError if it is empty.
[[nodiscard]] Part split_part(const data::Dataset& dataset, data::Split split);
/// Returns the images of a list from any split, in the order of the data set, found by data::NameIndex::find(). Throws
/// DataError with the counts and the first name if names are missing or ambiguous, or if two names match one image.
/// @param where description of the data set, for errors
[[nodiscard]] Part list_part(const data::Dataset& dataset, const NamedImages& list,
                             std::string_view where = "the data folder");

/// Removes all images that the file `list` (one name per line) does not name, without changing the order. Names are
/// matched as in list_part(), with the same errors.
void keep_listed(data::Dataset& images, const std::filesystem::path& list);

/// Selects the predictions of the images on a list, for `--predictions` with `--list`. If `list` is a file, only the
/// images that it names are kept. A known list is not distributed with the program: if `list` is its id, the hash of
/// the predictions' image names must equal the list's. Throws DataError with the counts if an image
/// of the list has no prediction.
/// @param what name of the predictions' file, for errors
[[nodiscard]] PredictionFile rows_on_list(PredictionFile file, const std::string& list, std::string_view what);

}  // namespace roentgen::score
