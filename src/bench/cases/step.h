// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `step`: whole training steps of a model on random input (forward, backward, optimizer), without a data pipeline.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Compiles the model with a sigmoid loss for training and measures steps of SGD with momentum on one fixed random
/// batch. Returns a table:
///   case, model, batch, image_px, channels, labels, threads, device, fuse, algorithms, dtype, recompute, warmup, n
///   images_per_s        batch / median step
///   first_step_s        time of compiling, which may time kernels, and of the first step
///   step_ms             {median, p95, min, max}
///   optimizer_ms        median
///   peak_bytes          planned memory of the executable and the optimizer's state; printed before the first step
///   process_peak_bytes  the most that the process held while it compiled and ran steps, without the memory of the
///                       calibration
///   memory              {planned_bytes: as peak_bytes; measured_bytes: growth of the process from before compiling to
///                       its peak, null where the kernel does not tell; of the plan: activations_bytes (and of
///                       these threads_scratch_bytes), parameters_bytes, gradients_bytes, optimizer_bytes,
///                       inputs_bytes, other_bytes}
///   framework_share     share of the measured time spent outside kernels and optimizer, 0 to 1; on a device
///                       null without a profile
///   conv_floor_ms       sum over conv2d_* and linear_* entries of the best run alone, on the step's own buffers: of 4
///                       before the measured steps and 4 after them, since a machine's speed drifts; with what else
///                       these entries do ("of norm", "of sum", "with moments", "into norm", "from norm" in
///                       `implementation`)
///   floor_ratio         median step / conv_floor_ms; both are null where the engine cannot time single entries
///   disturbance         counters of the machine during the measured steps (disturbance.h)
///   calibration         speed of the machine itself (calibration.h); null on a GPU
///   warnings            [text]: signs that the machine was busy or disturbed, or that its speed changed
///   loss_first, loss_last, checksum: of the losses of all steps; equal for equal plans, threads and machines
///   plan_hash, engine
///   profile             [{kind, calls, ms, share, gflops, gb_per_s}] per step, most expensive first; null unless asked
///   layers              [{name, kind, implementation, ms, best_ms, floor_ms, gflops}] for each plan entry in plan
///   order:
///                       mean and best time in the step, best time alone (convolutions only), rate at the best time;
///                       null unless asked
///   program, cpu, ...   what it ran on (io/environment.h)
/// Throws ConfigError if an option is out of range or the graph's sizes differ from the options. Throws DataError if a
/// loss is not finite, and like compile().
[[nodiscard]] Value run_step(const NetworkOptions& options);

/// Returns warnings that the times are not reliable; empty on a quiet machine. It warns if the slowest step took over
/// 1.25 times the fastest. It also warns if the median step took less time than its convolutions alone (`floor_ratio`
/// below 1), or over five times as long.
[[nodiscard]] std::vector<std::string> signs_of_other_work(std::span<const double> step_s,
                                                           std::optional<double> floor_ratio);

}  // namespace roentgen::bench
