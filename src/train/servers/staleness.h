// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts of gradients that asynchronous updates applied or dropped.
#pragma once

#include <cstdint>

namespace roentgen::train {

/// Counts of an asynchronous run since its start or resumption, for the shard of the first server.
struct StalenessRecord {
  std::int64_t applied = 0;  ///< gradients that changed the weights
  std::int64_t dropped = 0;  ///< gradients that were too old
  double mean = 0.0;         ///< mean staleness of applied gradients, in versions of the shard
  std::int64_t max = 0;      ///< largest staleness of an applied gradient
};

}  // namespace roentgen::train
