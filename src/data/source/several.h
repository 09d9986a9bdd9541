// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Several data sets read as one. For src/data/source only; everybody else calls load_dataset() and place_folders().
#pragma once

#include "data/source/dataset.h"

namespace roentgen::data {

class TableFiles;

/// One data folder, without its summaries: load_dataset() of one.
[[nodiscard]] Dataset load_one(const SourceOptions& options, TableFiles& tables);

/// All of options.sources, without summaries: load_dataset() of several.
[[nodiscard]] Dataset load_several(const SourceOptions& options, TableFiles& tables);

}  // namespace roentgen::data
