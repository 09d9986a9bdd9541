// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Explains why no dataset reader can read a folder. For src/data/source only.
#pragma once

#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// One line per dataset reader that says why it cannot read the folder; the readers whose requirements are nearly met
/// come first. Example: "csv: labels.csv has no column path, file, filename or image (it has img, Mass)".
[[nodiscard]] std::vector<std::string> source_obstacles(const SourceOptions& options);

}  // namespace roentgen::data
