// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Renames labels, because a hospital's own table may call "derrame" what a recipe calls Effusion. For src/data/source
// only.
#pragma once

#include <functional>

#include "data/source/source.h"

namespace roentgen::data {

/// Lists a data set with renamed labels: requests the data set's own names, then renames the labels by
/// options.label_map. Throws ConfigError if the map contains a label that is not requested, or assigns one name to two
/// labels. Also throws ConfigError if all labels are requested and the data set lacks a name in the map.
[[nodiscard]] Listing list_mapped(const std::function<Listing(const SourceOptions&)>& list,
                                  const SourceOptions& options);

/// Throws ConfigError if the label maps of two data sets assign one name to different labels.
void check_maps_agree(const std::vector<SourceOptions>& sources);

}  // namespace roentgen::data
