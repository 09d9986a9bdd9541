// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `scaling`: measures training with several numbers of ranks ("points"), each with its own group of processes, and
// makes a table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/input.h"
#include "bench/network.h"
#include "core/value.h"
#include "engine/update/update_list.h"
#include "train/observer.h"
#include "train/servers/server_options.h"

namespace roentgen::data {
struct Dataset;
}
namespace roentgen::dist {
class CommThread;
}

namespace roentgen::bench {

struct Host;
struct InputArguments;
struct SizeArguments;

/// Optimizer of the workers and parameter servers.
struct BenchOptimizer {
  std::string name = "sgd";
  engine::OptimizerRules rules{};
  double weight_decay = 1e-4;
  double lr = 1e-4;
};

/// Options for measuring one number of ranks.
struct ScalingOptions {
  /// Model and step settings. `batch` is the batch of one rank, and `threads` is at least 1. has_profile is ignored.
  NetworkOptions step;
  /// Images per second of an emulated device, whose step takes batch / device_images_per_s seconds. Gradient buckets
  /// become ready at the same shares of the step as in a real step. 0: no emulated device.
  double device_images_per_s = 0.0;
  /// Size of a gradient bucket, which is averaged as a whole, MiB.
  double bucket_mb = 4.0;
  /// False: gradients are sent only after the backward pass.
  bool is_overlapped = true;
  /// Parameter servers, which are the last ranks of the group.
  train::ServerOptions servers{};
  /// Slowdown factor of the last worker's emulated device.
  double straggler = 1.0;
  /// Input pipeline that produces the batches; nullopt: the same random batch in every step.
  std::optional<InputOptions> input{};
  /// Data set for `input`; null without it. Copies of the options share it.
  std::shared_ptr<const data::Dataset> dataset{};
  /// Folder, created if missing, for the trace file of all steps with warm-up, such as ranks-2.json. Empty: no trace.
  std::string trace_folder{};
  BenchOptimizer optimizer{};
  /// True: the speed of the machine itself is sampled, too (calibration.h), unless the device is emulated or a GPU.
  /// With `input`, samples lie only before and after all steps, because the threads that decode would slow them.
  bool is_calibrated = false;
  /// Called after every step of synchronous training, also of the warm-up; may be empty. Its time is in no step.
  std::function<void(const train::StepRecord& record)> on_step{};
};

/// Sets `input` and `dataset` to the images of --data, if it was given. `step` must be set already. Throws like
/// InputArguments::dataset() and checked().
void take_input(ScalingOptions& options, const InputArguments& input, const SizeArguments& sizes, const Host& host);

/// Measures one number of ranks: as a rank of `group`, or as the only rank if `group` is null. All ranks must call it
/// with equal options. The compute thread and its team are bound to the first `threads` of the available cores.
/// Only times may differ between ranks.
/// @return {"ranks" (only workers), "servers", "update", "hosts", "dtype" (of the plan), "images_per_s" (of all
/// workers), "step_ms", "comm_exposed", "data_wait", "imbalance", "kind": "measured" or "emulated", ...}. "disturbance"
/// is that of the host with the worst sign (disturbance.h). "calibration" has the samples of the slowest rank, or is
/// null (calibration.h), and "samples" has "step_s".
[[nodiscard]] Value run_scaling_point(const ScalingOptions& options, dist::CommThread* group);

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
///            "imbalance", "kind", of the last round with --update async also "applied", "dropped", "staleness_mean",
///            "staleness_max"}
[[nodiscard]] Value run_scaling(const ScalingPlan& plan, const RunPoint& run_point);

}  // namespace roentgen::bench
