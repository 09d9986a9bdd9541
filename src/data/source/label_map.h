// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Renames labels: a hospital's own table may call "derrame" what a recipe calls Effusion. For src/data/source only.
#pragma once

#include <functional>

#include "data/source/source.h"

namespace roentgen::data {

/// Lists a source with renamed labels: asks it for its own names, and gives labels the names of options.label_map.
/// Throws ConfigError when the map names a label that is not requested, or gives one name two labels. Throws
/// ConfigError also for a name that the source does not have, where all its labels are requested.
[[nodiscard]] Listing list_mapped(const std::function<Listing(const SourceOptions&)>& list,
                                  const SourceOptions& options);

/// ConfigError when two of the sources give one name two labels.
void check_maps_agree(const std::vector<SourceOptions>& sources);

}  // namespace roentgen::data
