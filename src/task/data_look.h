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

/// A folder and the data set that was found in it. No text in it names a patient or an image.
struct DataLook {
  data::SourceOptions source{};  ///< options with which the folder was listed, root included
  data::Dataset dataset{};       ///< data set listed with `source`, as training will see it
  data::Census census{};         ///< headers of some of its image files, evenly spread
  /// Images that turned out unreadable: indices into dataset.samples.
  std::set<std::uint32_t> unreadable{};
  std::string labels_from{};          ///< origin of the labels, for a comment
  std::string patient_from{};         ///< origin of the patients; empty: some or all patients are unknown
  std::string views_from{};           ///< reason for source.views; empty: all views are kept
  std::vector<std::string> doubts{};  ///< sentences on what is uncertain, and what to edit
};

/// Looks at the folder `asked.root`. Keys of `asked` that differ from their defaults are kept, others are found out:
/// table, labels, unit of the split, views. DataError or ConfigError, one line: a folder that no source reads, images
/// without labels, as data::load_dataset().
[[nodiscard]] DataLook look_at_data(const data::SourceOptions& asked);

}  // namespace roentgen::task
