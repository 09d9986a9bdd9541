// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Merges several data sets into one. For src/data/source only; other code calls load_dataset() and place_folders().
#pragma once

#include "data/source/dataset.h"

namespace roentgen::data {

class TableFiles;

/// Loads one data folder. Does not fill the summaries.
[[nodiscard]] Dataset load_one(const SourceOptions& options, TableFiles& tables);

/// Loads all of options.sources as one data set. Does not fill the summaries.
[[nodiscard]] Dataset load_several(const SourceOptions& options, TableFiles& tables);

}  // namespace roentgen::data
