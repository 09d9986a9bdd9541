// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A data set as a folder of image files and labels.csv: their names, and the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Path of each sample's image below the folder: "images/", its name without an image's ending, and `ending`. The
/// number of the sample replaces a name that is no path below a folder. All paths differ.
[[nodiscard]] std::vector<std::string> image_file_names(const Dataset& dataset, std::string_view ending);

/// Text of the table: path, id (the sample's), patient, split, view, sex and age where known, and the labels (1, 0,
/// empty = unknown). Throws ConfigError where a label has the name of one of these columns, in any case.
[[nodiscard]] std::string image_table(const Dataset& dataset, const std::vector<std::string>& names);

}  // namespace roentgen::data
