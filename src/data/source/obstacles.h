// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reasons why no source reads a folder. For src/data/source only.
#pragma once

#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// A line for each source, "csv: labels.csv has no column path, file, filename or image (it has img, Mass)": what stood
/// in its way. Sources that lack least come first.
[[nodiscard]] std::vector<std::string> source_obstacles(const SourceOptions& options);

}  // namespace roentgen::data
