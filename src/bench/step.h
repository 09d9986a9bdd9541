// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `step`: whole training steps of a model on random input: forward, backward, optimizer. No data pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::graph {
class Graph;
}

namespace roentgen::bench {

/// What to measure.
struct StepOptions {
  /// As models::ModelConfig: name, batch, image side, channels, labels.
  std::string model = "resnet50";
  /// Measured in place of the model of that name: a network with these sizes. Outlives the call.
  const graph::Graph* graph = nullptr;
  std::int64_t batch = 16;
  std::int64_t image_px = 224;
  std::int64_t channels = 3;
  std::int64_t labels = 14;
  /// Steps run before, and steps measured; at least 0 and 1.
  std::int64_t warmup = 3;
  std::int64_t steps = 10;
  /// Compute threads; 0 = runtime::default_compute_threads().
  int threads = 0;
  /// Engine of engine/engine_list.h.
  std::string device = "cpu";
  /// Graph passes, as engine::CompileOptions::fuse.
  std::string fuse = "on";
  /// Convolution kernels, as engine::CompileOptions::algorithms.
  std::string algorithms = "auto";
  /// What activations are stored and multiplied in, as engine::CompileOptions::dtype.
  std::string dtype = "f32";
  /// Values that backward computes again, as engine::CompileOptions::recompute.
  std::string recompute = "auto";
  /// Adds the per-kind table `profile`.
  bool has_profile = false;
};

/// Compiles the model with a sigmoid loss for training and measures steps of SGD with momentum on one fixed random
/// batch. The result, a table:
///   case, model, batch, image_px, channels, labels, threads, device, fuse, algorithms, dtype, recompute, warmup, n
///   images_per_s        batch / median step
///   step_ms             {median, p95, min, max}
///   optimizer_ms        median
///   peak_bytes          memory of the executable and the optimizer's state, by plan; told before the first step
///   process_peak_bytes  the most that the process held while it compiled and ran steps
///   memory              {planned_bytes: as peak_bytes; measured_bytes: growth of the process from before compiling to
///                       its peak, null where the kernel does not tell; of the plan: activations_bytes (and of
///                       these threads_scratch_bytes), parameters_bytes, gradients_bytes, optimizer_bytes,
///                       inputs_bytes, other_bytes}
///   framework_share     share of the measured time spent outside kernels and optimizer, 0 to 1
///   conv_floor_ms       sum over conv2d_* and linear_* entries of the best run alone, on the step's own buffers: of 4
///                       before the measured steps and 4 after them, since a machine's speed drifts; with what else
///                       these entries do ("of norm", "of sum", "with moments", "into norm", "from norm" in
///                       `implementation`)
///   floor_ratio         median step / conv_floor_ms; both are null where the engine cannot time single entries
///   warnings            [text]: signs that the machine was busy (signs_of_other_work())
///   loss_first, loss_last, checksum: of the losses of all steps; equal for equal plans, threads and machines
///   plan_hash, engine
///   profile             [{kind, calls, ms, share, gflops, gb_per_s}] per step, most expensive first; null unless asked
///   layers              [{name, kind, implementation, ms, best_ms, floor_ms, gflops}] for each plan entry in plan
///   order:
///                       mean and best time in the step, best time alone (convolutions only), rate at the best time;
///                       null unless asked
///   program, cpu, ...   what it ran on (io/environment.h)
/// Throws ConfigError on options out of range or a graph of other sizes, DataError when a loss is not finite, what
/// compile() throws.
[[nodiscard]] Value run_step(const StepOptions& options);

/// "the slowest `what` took 1.30 times the fastest; the machine was busy: ..." where that is over 1.25 times; `times`
/// not empty.
[[nodiscard]] std::optional<std::string> sign_of_spread(std::string_view what, std::span<const double> times);
/// Lines that say why the times are not to be trusted: the slowest of the steps took over 1.25 times the fastest, or
/// the median step less than its own convolutions alone (`floor_ratio` below 1), or over five times as long. Empty on a
/// quiet machine.
[[nodiscard]] std::vector<std::string> signs_of_other_work(std::span<const double> step_s,
                                                           std::optional<double> floor_ratio);

}  // namespace roentgen::bench
