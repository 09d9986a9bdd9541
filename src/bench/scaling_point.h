// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Scaling point: measures training steps with one number of ranks. Used by `scaling`, `short`, `cnn` and `sweep`.
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
/// workers), "step_ms", "comm_exposed", "data_wait", "imbalance", "kind": "measured" or "emulated", ...}.
/// "slowest_rank" is the rank that was slowest in the most steps; it is absent for one process. "disturbance" is that
/// of the host with the worst value (disturbance.h). "calibration" has the samples of the slowest rank, or is null
/// (calibration.h), and "samples" has "step_s".
[[nodiscard]] Value run_scaling_point(const ScalingOptions& options, dist::CommThread* group);

}  // namespace roentgen::bench
