// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `nodes`: runs the same training steps on every rank at once, without communication. It finds slow machines, and
// machines that compute different results, before a long run on many hosts.
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
  /// Training to measure: `steps` updates that start with equal weights and use equal images. `threads` is at least 1.
  /// All ranks use the kernels that rank 0 chose, so that their results are equal. has_profile is ignored.
  NetworkOptions step;
  /// Threshold for slow ranks, above 1: a rank is slow if its median step time exceeds this factor times the median of
  /// all ranks.
  double slow_factor = 1.15;
};

/// Measurements of one rank.
struct NodeFigures {
  double step_s = 0.0;  ///< median time of a step
  /// Throughput of copying 64 MiB, bytes read plus bytes written; the best of several copies.
  double copy_gb_per_s = 0.0;
  double loss = 0.0;          ///< loss of the last step
  std::uint64_t weights = 0;  ///< hash of the final weights
};

/// Returns the ranks whose steps or memory copies take longer than `slow_factor` times the median of all ranks.
[[nodiscard]] std::vector<int> slow_nodes(std::span<const NodeFigures> ranks, double slow_factor);
/// Returns the ranks whose final weights differ from the weights of the majority; all ranks if there is no majority.
[[nodiscard]] std::vector<int> odd_nodes(std::span<const NodeFigures> ranks);

/// Measures every rank. Every rank of `group` must call it with equal options. All get the same result, a table:
///   case, kind "measured", model, batch, image_px, threads, steps, slow_factor, ranks, oversubscribed
///   nodes       [{rank, host, images_per_s, step_ms, of_median (its step over the median's), copy_gb_per_s, loss,
///               weights (hash), slow, odd}]
///   slow, odd   number of such ranks
///   warnings    a line for each of them
///   program, cpu, ... of rank 0
/// Throws ConfigError if an option is out of range, DataError if a loss is not finite, and CommError as train::Ranks
/// does.
[[nodiscard]] Value run_nodes(const NodesOptions& options, dist::CommThread& group);

}  // namespace roentgen::bench
