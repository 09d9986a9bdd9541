// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Scaling of training with the number of ranks: points, each measured by a group of processes, and a table of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/input.h"
#include "bench/network.h"
#include "core/value.h"
#include "train/servers/server_options.h"

namespace roentgen::data {
struct Dataset;
}
namespace roentgen::dist {
class CommThread;
}

namespace roentgen::bench {

/// Options of one point.
struct ScalingOptions {
  /// `batch` is a rank's; `threads` at least 1. No profile.
  NetworkOptions step;
  /// Images per second of an emulated device, whose step lasts batch / device_images_per_s s. Buckets become ready as
  /// in a real step. 0: none.
  double device_images_per_s = 0.0;
  /// Gradients that travel together.
  double bucket_mb = 4.0;
  /// False: gradients are sent after backward.
  bool is_overlapped = true;
  /// Parameter servers: the last ranks of the group.
  train::ServerOptions servers{};
  /// Slowdown factor of the last worker's emulated device.
  double straggler = 1.0;
  /// Source of batches, with pipeline, workers, storage and cores; nullopt: one random batch, repeated.
  std::optional<InputOptions> input{};
  /// Data set for `input`.
  const data::Dataset* dataset = nullptr;
  /// Folder for a trace of all steps, including warm-up (ranks-2.json); it is created. Empty: none.
  std::string trace_folder{};
};

/// Measures a point as a rank of `group`, or as the only rank (null). All ranks must call it with equal options. The
/// compute thread and its team are bound to the first `threads` of the available cores.
/// @return {"ranks" (of workers), "servers", "update", "hosts", "images_per_s" (of all), "step_ms", "comm_exposed",
///   "data_wait", "imbalance", "kind": "measured" or "emulated", ...}. The same of every rank save for times.
[[nodiscard]] Value run_scaling_point(const ScalingOptions& options, dist::CommThread* group);

/// Points to measure, and the number of rounds.
struct ScalingPlan {
  /// Numbers of ranks, at least one. Efficiency is relative to one rank; without that point there is none.
  std::vector<std::int64_t> ranks{1};
  /// Ranks of a host; 0: all on one.
  std::int64_t per_host = 0;
  /// Number of cores of a host, which its ranks divide; points differ in ranks per host alone.
  /// 0: not fixed, and each rank has as many threads at every point.
  std::int64_t cores = 0;
  /// Interleaved.
  std::int64_t rounds = 3;
  /// Weak: as many images for each rank, however many there are. Strong: as many together.
  bool is_strong = false;
  /// Images of a rank's batch; strong: of all together.
  std::int64_t batch = 16;
};

/// Returns the list of hosts with so many ranks each: "a,b:1" with 2 gives "a:2,b:2". Empty for an empty list.
[[nodiscard]] std::string hosts_with_ranks(const std::string& hosts, std::int64_t ranks);

/// Starts the processes of a point and returns the result of run_scaling_point() on rank 0.
using RunPoint = std::function<Value(std::int64_t ranks, std::int64_t batch)>;

/// Measures all points, each in every round, and returns {"points": [POINT]}. "efficiency" is null without a point of
/// one rank, "efficiency_of_host" without one of one host. Both are null for an "oversubscribed" POINT, which has more
/// ranks or compute threads than cores. With ScalingPlan::cores, points have "threads" (of a rank) and, instead of
/// efficiencies, "speedup": the median of the rounds' ratios of "images_per_s" to the first point. Throws ConfigError
/// for a strong-scaling batch that some number of ranks does not divide.
///   POINT = {"ranks", "hosts", "batch", "images_per_s" (median of rounds), "mean", "sd", "min", "max",
///            "efficiency" (median of the rounds' ratios to the point of one rank, by rank),
///            "efficiency_of_host" (to the point of one host), "oversubscribed", "comm_exposed", "data_wait",
///            "imbalance", "kind", of the last round with --update async also "applied", "dropped", "staleness_mean",
///            "staleness_max"}
[[nodiscard]] Value run_scaling(const ScalingPlan& plan, const RunPoint& run_point);

}  // namespace roentgen::bench
