// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Labels under other names: what a recipe calls Effusion, a hospital's own table may call "derrame". For
// src/data/source only.
#pragma once

#include <functional>

#include "data/source/source.h"

namespace roentgen::data {

/// Lists a source as options.label_map says: asks it for its own names, and gives labels the names of the map.
/// ConfigError when the map names a label that is not asked for, a name that the source does not have (where all its
/// labels are asked for), or gives one name two labels.
[[nodiscard]] Listing list_mapped(const std::function<Listing(const SourceOptions&)>& list,
                                  const SourceOptions& options);

/// ConfigError when two of the sources give one name two labels.
void check_maps_agree(const std::vector<SourceOptions>& sources);

}  // namespace roentgen::data
