// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `scaling`: measures training with several numbers of ranks ("points"), each with its own group of processes, and
// makes a table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/scaling_point.h"
#include "core/value.h"

namespace roentgen::bench {

/// Numbers of ranks to measure, and the number of rounds.
struct ScalingPlan {
  /// Numbers of ranks to measure, at least one. Without the number 1 there is no efficiency, because it is relative to
  /// one rank.
  std::vector<std::int64_t> ranks{1};
  /// Number of ranks per host; 0: all ranks on one host.
  std::int64_t per_host = 0;
  /// Number of cores of a host, which its ranks divide; points differ in ranks per host alone.
  /// 0: not fixed, and each rank has as many threads at every point.
  std::int64_t cores = 0;
  /// Interleaved.
  std::int64_t rounds = 3;
  /// False: every rank has `batch` images (weak scaling). True: all ranks together have `batch` images (strong
  /// scaling).
  bool is_strong = false;
  /// Images per batch, see is_strong.
  std::int64_t batch = 16;
};

/// Returns the list of hosts with this number of ranks each: "a,b:1" with 2 gives "a:2,b:2". Empty for an empty list.
[[nodiscard]] std::string hosts_with_ranks(const std::string& hosts, std::int64_t ranks);

/// Starts a group of processes and returns the result of run_scaling_point() on rank 0. Called with the number of ranks
/// and the batch of a rank.
using RunPoint = std::function<Value(std::int64_t ranks, std::int64_t batch)>;

/// Measures every number of ranks in every round, and returns {"points": [POINT]} with a POINT per number of ranks.
/// "efficiency" is null unless one rank is measured, "efficiency_of_host" unless one host is measured. They are also
/// null for an "oversubscribed" POINT, which has more ranks or compute threads than cores. With ScalingPlan::cores,
/// points have "threads" (of a rank) and, instead of efficiencies, "speedup": the median of the rounds' ratios of
/// "images_per_s" to the first point. Throws ConfigError if the batch of strong scaling is no multiple of a number of
/// ranks.
///   POINT = {"ranks", "hosts", "batch", "images_per_s" (median of rounds), "mean", "sd", "min", "max",
///            "efficiency" (median of the rounds' ratios to the point of one rank, by rank),
///            "efficiency_of_host" (to the point of one host), "oversubscribed", "comm_exposed", "data_wait",
///            "imbalance", "kind", of the last round with several ranks also "slowest_rank" and with --update async
///            "applied", "dropped", "staleness_mean", "staleness_max"}
[[nodiscard]] Value run_scaling(const ScalingPlan& plan, const RunPoint& run_point);

}  // namespace roentgen::bench
