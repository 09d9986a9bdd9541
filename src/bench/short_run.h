// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Short test: warm-up steps, then measured training steps with the statistics of tf_cnn_benchmarks (speed.h). The case
// `short` runs it with several numbers of devices, and `sweep` with many settings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/scaling_point.h"
#include "core/value.h"

namespace roentgen::dist {
class CommThread;
}

namespace roentgen::bench {

/// Numbers of warm-up steps and measured steps of a short test.
inline constexpr std::int64_t kShortWarmup = 10;
inline constexpr std::int64_t kShortSteps = 100;

/// Runs run_scaling_point() with calibration. A run of more than 5 s shows its progress on standard error. Only rank 0
/// calls options.on_step.
/// @param name name of the case, with which the progress begins
[[nodiscard]] Value run_shown_point(std::string_view name, const ScalingOptions& options, dist::CommThread* group);

/// Trains options.step.warmup and options.step.steps steps as a rank of `group`, or alone if it is null. All ranks must
/// call it with equal options. Times are those of rank 0; ranks wait for each other in every step. Shows its progress.
/// @return short_row() of the run
[[nodiscard]] Value run_short(const ScalingOptions& options, dist::CommThread* group);

/// Computes the statistics of a run. Returns a table:
///   ranks, hosts, n   numbers of devices, hosts and measured steps
///   images_per_s      mean speed over all devices
///   uncertainty, jitter, min, max, variation  see Speed
///   settled_from      number of the first measured step, from 1, from which the speed no longer drifts; or null
///   data_wait, comm_exposed, oversubscribed, kind, batch, threads, dtype  see run_scaling_point()
///   warnings          [text]: what makes the speed doubtful, and what disturbed the run
///   disturbance, calibration, samples {step_s}
/// @param point result of run_scaling_point()
[[nodiscard]] Value short_row(const Value& point);

/// Picks the entries of short_row() from the result of one number of devices.
[[nodiscard]] Value short_row_in(const Value& result);

/// Describes what makes the speed doubtful and what disturbed the run: signs_of_unsteady_speed(), then the signs of
/// `disturbance` and `calibration`. If an unsteady run has none of these, the last text says so. Empty for a steady and
/// undisturbed run.
/// @param result table with samples.step_s, disturbance and calibration
[[nodiscard]] std::vector<std::string> short_warnings(const Value& result);

/// Measures every number of devices in turn. Returns `settings` with the rows:
///   one number       the entries of its row
///   several numbers  points [row], each with speedup and efficiency; they are null without a point of one device, and
///                    for an oversubscribed point
/// Warnings of several numbers begin with the number of devices; their samples stay in the rows.
/// @param run_point returns the row of a number of devices
[[nodiscard]] Value run_short_points(const std::vector<std::int64_t>& counts, Value settings,
                                     const std::function<Value(std::int64_t ranks)>& run_point);

/// Number of steps in `epochs` epochs of training: epochs * images / (batch * ranks), without a partial last step.
[[nodiscard]] std::int64_t iterations_of(std::int64_t epochs, std::int64_t images, std::int64_t batch,
                                         std::int64_t ranks);
/// The formula of iterations_of() with its numbers, such as "iterations = epochs * images / (batch * devices) = 1 * 800
/// / (16 * 2) = 25". Without `images`, only the formula.
[[nodiscard]] std::string iterations_text(std::int64_t epochs, std::optional<std::int64_t> images, std::int64_t batch,
                                          std::int64_t ranks);

/// Returns 1, 4 and 8 as far as there are so many devices, and the number of all devices if it is below 8.
[[nodiscard]] std::vector<std::int64_t> usual_counts(std::int64_t devices);
/// Number of devices that `device` stands for on this machine: CUDA devices for "cuda", otherwise 1.
[[nodiscard]] std::int64_t devices_of(const std::string& device);

}  // namespace roentgen::bench
