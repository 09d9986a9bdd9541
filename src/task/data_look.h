// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DataLook: inspects an undescribed folder and finds how to read it as a data set, as the basis of a proposed recipe.
// The folder is never written to.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "data/census/census.h"
#include "data/source/dataset.h"

namespace roentgen::task {

/// Data folder and the properties that were detected in it. Its texts never contain the name of a patient or an image.
struct DataLook {
  data::SourceOptions source{};  ///< options with which the data set was listed, including the folder
  data::Dataset dataset{};       ///< data set found with the options `source`, as in training
  data::Census census{};         ///< statistics from the headers of some image files, evenly spread
  /// Unreadable images, as indices into dataset.samples.
  std::set<std::uint32_t> unreadable{};
  std::string labels_from{};          ///< origin of the labels, for a comment in the recipe
  std::string patient_from{};         ///< origin of the patient ids; empty if some patients are unknown
  std::string views_from{};           ///< reason for the value of source.views; empty if all views are used
  std::vector<std::string> doubts{};  ///< sentences that say what is uncertain and which keys to edit
};

/// Inspects the folder `asked.root`. Keys of `asked` that differ from their defaults are kept. Others are detected:
/// table, labels, split by patient or image, views. Throws DataError or ConfigError in one line if no source can read
/// the folder or images have no labels, and as data::load_dataset() does.
[[nodiscard]] DataLook look_at_data(const data::SourceOptions& asked);

}  // namespace roentgen::task
