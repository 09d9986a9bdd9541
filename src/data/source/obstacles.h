// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reasons why no source reads a folder. For src/data/source only.
#pragma once

#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// One line per source with the reason why it does not read the folder; the closest sources come first. Example: "csv:
/// labels.csv has no column path, file, filename or image (it has img, Mass)".
[[nodiscard]] std::vector<std::string> source_obstacles(const SourceOptions& options);

}  // namespace roentgen::data
