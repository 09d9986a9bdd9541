// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output of a data set as a folder of image files with labels.csv: file names and the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Relative path of each sample's output file: "images/", the sample's name without an image extension, and `ending`. A
/// name that is not a path inside a folder is replaced by the sample's number. All returned paths differ.
[[nodiscard]] std::vector<std::string> image_file_names(const Dataset& dataset, std::string_view ending);

/// Text of labels.csv: path, id, patient, split, view, sex and age if known, and the labels (1, 0, empty = unknown).
/// Throws ConfigError if a label has the same name as one of these columns, ignoring case.
[[nodiscard]] std::string image_table(const Dataset& dataset, const std::vector<std::string>& names);

}  // namespace roentgen::data
