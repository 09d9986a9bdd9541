// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// bench nodes: the same training on every rank at once, each for itself. It finds slow machines, and machines that
// compute different results, before a run on many hosts does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::dist {
class CommThread;
}

namespace roentgen::bench {

struct NodesOptions {
  /// `steps` updates from the same weights on the same images; `threads` at least 1. Kernels are rank 0's, so "auto"
  /// differs from run to run, but not from rank to rank. No profile.
  NetworkOptions step;
  /// Factor of a slow rank, above 1: its median step takes this many times the median of all ranks.
  double slow_factor = 1.15;
};

/// Results of one rank.
struct NodeFigures {
  double step_s = 0.0;  ///< median
  /// Bytes read and written per second of a copy of 64 MiB, the best of several.
  double copy_gb_per_s = 0.0;
  double loss = 0.0;          ///< loss of the last step
  std::uint64_t weights = 0;  ///< hash of the final weights
};

/// Ranks whose steps, or copies, take longer than `slow_factor` times the median of all.
[[nodiscard]] std::vector<int> slow_nodes(std::span<const NodeFigures> ranks, double slow_factor);
/// Ranks whose weights differ from those of the majority; all ranks when there is no majority.
[[nodiscard]] std::vector<int> odd_nodes(std::span<const NodeFigures> ranks);

/// Measures every rank. Every rank of `group` must call it with equal options. All get the same result, a table:
///   case, kind "measured", model, batch, image_px, threads, steps, slow_factor, ranks, oversubscribed
///   nodes       [{rank, host, images_per_s, step_ms, of_median (its step over the median's), copy_gb_per_s, loss,
///               weights (hash), slow, odd}]
///   slow, odd   number of such ranks
///   warnings    a line for each of them
///   program, cpu, ... of rank 0
/// Throws ConfigError on options out of range, DataError where a loss is not finite, CommError as train::Ranks.
[[nodiscard]] Value run_nodes(const NodesOptions& options, dist::CommThread& group);

}  // namespace roentgen::bench
