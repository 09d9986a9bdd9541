// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Part of a data set to evaluate: a split, or the images of a list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"
#include "score/prediction_file.h"

namespace roentgen::score {

/// Names of images, of a list file.
struct NamedImages {
  /// Description for people: "list test_list.txt".
  std::string title;
  std::vector<std::string> names;  ///< names in the order of the file
  /// io::name_list_sha256.
  std::string list_sha256;
};

/// Images of a data folder.
struct Part {
  /// "split test", or NamedImages::title.
  std::string title;
  /// "test", "train", "val" or "list".
  std::string name;
  /// Indices into Dataset::samples.
  std::vector<std::uint32_t> samples;
  /// Distinct known ones.
  std::int64_t patients = 0;
  std::string list_sha256;  ///< io::name_list_sha256 of its images
};

/// Names of the images that --list selects. `list` is a file, "official" (NIH's test list) or the id of a known list
/// (eval/split_list.h). A file has one name a line; the rest of a line is ignored. The folder's test_list.txt or the
/// recipe's data.test_list holds a known list, if the file has its hash. Throws DataError with both counts otherwise.
/// @param source the folder, as the recipe reads it
[[nodiscard]] NamedImages find_list(const std::string& list, const data::SourceOptions& source);
/// Names in a file, as find_list() reads them; DataError as data::read_name_list().
[[nodiscard]] NamedImages read_list(const std::filesystem::path& path);

/// A list of images for people: "list 4f2a9c01b7de (not a published list)", with the first 12 digits of its hash.
[[nodiscard]] std::string list_text(const std::string& list_sha256);
/// The line that describes a part, above its table.
[[nodiscard]] std::string part_text(const Part& part);

/// The split; DataError when it is empty.
[[nodiscard]] Part split_part(const data::Dataset& dataset, data::Split split);
/// Images of a list, in the order of the data set, from any split. Looked up by data::NameIndex::find(). Throws
/// DataError with the counts and the first name when names are missing, match two images, or two names match one image.
/// @param where the data set, for errors
[[nodiscard]] Part list_part(const data::Dataset& dataset, const NamedImages& list,
                             std::string_view where = "the data folder");

/// Keeps the images that `list` names, one name per line, in their own order; matched and refused as by list_part().
void keep_listed(data::Dataset& images, const std::filesystem::path& list);

/// Predictions of the images on a list, for `--predictions` with `--list`. A known list is recognised by the hash of
/// the predictions' own names, because its file is not distributed with the program. With a file, only its images are
/// kept. Throws DataError with the counts when an image of the list has no prediction.
/// @param what the predictions' file, for errors
[[nodiscard]] PredictionFile rows_on_list(PredictionFile file, const std::string& list, std::string_view what);

}  // namespace roentgen::score
