// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Speed: statistics of training or inference speed over the steps of one run, as tf_cnn_benchmarks defines them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::bench {

/// Statistics of the speed B / t in images per second, where t is the time of a step and B its number of images.
struct Speed {
  std::size_t steps = 0;     ///< number of steps
  double mean = 0.0;         ///< B / mean(t), the number of images by the total time
  double uncertainty = 0.0;  ///< standard deviation of B / t divided by sqrt(steps): standard error of the mean
  double jitter = 0.0;       ///< 1.4826 * median(|B / t - median(B / t)|)
  double min = 0.0;          ///< speed of the slowest step
  double max = 0.0;          ///< speed of the fastest step
  /// Standard deviation of B / t divided by its mean.
  double variation = 0.0;
};

/// Largest variation of a quiet run; larger ones are reported.
inline constexpr double kMostVariation = 0.02;

/// Computes the statistics.
/// @param step_s time of every step in seconds; not empty, each above 0
/// @param images number of images of a step, summed over all devices
[[nodiscard]] Speed speed_of(std::span<const double> step_s, double images);
/// Returns a table {mean, uncertainty, jitter, min, max, variation, steps}, speeds in images per second.
[[nodiscard]] Value to_value(const Speed& speed);
/// Formats the speed as tf_cnn_benchmarks does: "images/sec: 362.5 +/- 0.5 (jitter = 0.7)".
[[nodiscard]] std::string tf_cnn_text(const Speed& speed);

/// Number of the first step, counted from 0, from which the speed no longer drifts. The run is divided into ten blocks
/// of equal length. A block has settled if its median time differs by at most kMostVariation from the median of the
/// second half of the run. Returns nullopt if a block of the second half has not settled, or for fewer than 20 steps.
[[nodiscard]] std::optional<std::size_t> settled_from(std::span<const double> step_s);

/// Consecutive steps that were slower than the median of all steps.
struct Burst {
  std::size_t first = 0;  ///< number of the first slow step, counted from 0
  std::size_t steps = 0;  ///< number of slow steps
  double slowdown = 1.0;  ///< their median time divided by the median of all steps
};
/// Finds every burst of at least three steps whose times exceed the median of all steps by more than 5%.
[[nodiscard]] std::vector<Burst> bursts_of(std::span<const double> step_s);

/// Describes what makes the speed of a run doubtful: a variation above kMostVariation, bursts, a drift. Each text is
/// one sentence without a full stop; empty for a steady run.
[[nodiscard]] std::vector<std::string> signs_of_unsteady_speed(std::span<const double> step_s);

}  // namespace roentgen::bench
