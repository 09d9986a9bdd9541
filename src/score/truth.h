// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the true labels that the option `--labels` names, in the same way as `train` and `eval` read labels.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "data/source/dataset.h"
#include "data/source/name_index.h"
#include "eval/predictions.h"

namespace roentgen::score {

/// Images with their true labels, which can be found by name. Plain value; thread-safe to read.
struct Truth {
  /// Name of the table or folder, for errors.
  std::string what{};
  data::Dataset dataset{};  ///< one sample per image
  /// Indices in dataset.samples by image name.
  data::NameIndex index{};

  /// Returns the sample of an image by data::NameIndex::find_ending(), or null.
  [[nodiscard]] const data::Sample* find(std::string_view image) const;
};

/// Reads the labels of a data folder (as data::load_dataset() does) or of a label table. NIH's tables and tables with a
/// column of image names are read without image files (data::ImageFiles::Unneeded). Tables of CheXpert, MIMIC-CXR-JPG
/// and PadChest are read in their folder, together with the images of all splits. So label policies, finding names,
/// patients, views and studies are the same as when a checkpoint is evaluated. The format of a folder is detected if it
/// is not the recipe's (load_evaluated()). Labels that the data do not have are unknown (data::absent_labels()). Throws
/// DataError and ConfigError as these functions do, and DataError if the data have none of the labels.
/// @param labels (K) labels of the predictions; samples get their labels in this order
/// @param options section [data] of a recipe; root, labels and split are ignored, and csv if `path` is a table
/// @param overrides "data.key=value" settings that `options` already contains
[[nodiscard]] Truth read_truth(const std::filesystem::path& path, const std::vector<std::string>& labels,
                               data::SourceOptions options, std::span<const std::string> overrides = {});

/// Describes the version of the labels for JSON: {"csv": data::tables_value(), "positives": eval::positives_value()}.
[[nodiscard]] Value label_version(const data::Dataset& dataset, const eval::Predictions& predictions);
/// Returns a single hash as a value, several hashes as an array, for JSON.
[[nodiscard]] Value one_or_all(const std::vector<std::string>& hashes);

}  // namespace roentgen::score
