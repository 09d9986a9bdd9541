// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The truth about images that `--labels` names, read as `train` and `eval` read it.
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

/// Labelled images, found by name. Plain value; thread-safe to read.
struct Truth {
  /// Name of the table or folder, for errors.
  std::string what{};
  data::Dataset dataset{};  ///< a sample each image
  /// Positions in dataset.samples by name.
  data::NameIndex index{};

  /// The sample of an image, or null: data::NameIndex::find_ending().
  [[nodiscard]] const data::Sample* find(std::string_view image) const;
};

/// Reads a data folder as data::load_dataset() does, or a label table. NIH's tables and those with a column for the
/// images' names are read alone (data::ImageFiles::Unneeded); tables of CheXpert, MIMIC-CXR-JPG and PadChest in the
/// folder they lie in, with the images, whatever split these are in. So label policies, names of findings, patients,
/// views and studies are those of a checkpoint's evaluation. A folder that the recipe's source cannot list is read as
/// what is found there (load_evaluated()). Labels that the truth lacks are unknown: data::absent_labels().
/// @param labels (K) of the predictions, and of each sample in that order
/// @param options a recipe's [data]; root, labels and split are not used, nor csv where `path` is a table
/// @param overrides those that `options` has been given, "data.key=value"
/// DataError and ConfigError as these; DataError where the truth has none of the labels.
[[nodiscard]] Truth read_truth(const std::filesystem::path& path, const std::vector<std::string>& labels,
                               data::SourceOptions options, std::span<const std::string> overrides = {});

/// The version of the labels for JSON: {"csv": data::tables_value(), "positives": eval::positives_value()}.
[[nodiscard]] Value label_version(const data::Dataset& dataset, const eval::Predictions& predictions);
/// For JSON: the one hash, or an array of several.
[[nodiscard]] Value one_or_all(const std::vector<std::string>& hashes);

}  // namespace roentgen::score
