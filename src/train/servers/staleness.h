// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Staleness of gradients in asynchronous updates: counts of applied and dropped gradients, and the factor for late
// ones.
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

/// Counts of the gradients of a worker since the start of the program, for the shard of the first server.
struct GradientCount {
  std::int64_t applied = 0;  ///< gradients that changed the weights
  std::int64_t dropped = 0;  ///< gradients that were too old
};

/// Factor of the learning rate for a late gradient. It is 1 up to a staleness of workers - 1, which gradients of
/// equally fast workers have. Beyond, it falls as 1 / (staleness + 1) (Zhang et al. 2016, arXiv:1511.05950).
[[nodiscard]] constexpr double late_rate(double staleness, int workers) {
  const auto most = static_cast<double>(workers);
  return staleness + 1.0 <= most ? 1.0 : most / (staleness + 1.0);
}

}  // namespace roentgen::train
