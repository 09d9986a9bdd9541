// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Calibration: the speed of the machine itself before, between and after the measured steps of a run. It tells a slower
// machine from a slower program. machine_watch.h takes the samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/machine_speed.h"
#include "core/value.h"

namespace roentgen::bench {

/// Samples of the machine's speed during a run.
struct Calibration {
  std::vector<std::int64_t> steps{};  ///< number of measured steps before each sample
  std::vector<SpeedSample> samples{};
};

/// Joins the calibrations of ranks with equal steps: the slowest rank counts in each sample.
[[nodiscard]] Calibration slowest_of(const std::vector<Calibration>& ranks);

/// Returns a sentence without a full stop for computing and for copying, if a slower machine can be why some steps took
/// longer. Then both samples around these steps are slower than both samples around other steps, by more than 2%. These
/// steps also took more than 2% longer. Single samples vary too much to tell anything.
[[nodiscard]] std::vector<std::string> signs_of(const Calibration& calibration, std::span<const double> step_s);

/// Returns a table {steps, compute_s, copy_s} of arrays; null if there are no samples.
[[nodiscard]] Value to_value(const Calibration& calibration);
/// Reads a table that to_value() made.
[[nodiscard]] Calibration calibration_in(const Value& table);

/// A speed of the machine during a run, in a unit that is equal for all runs with as many threads.
struct NamedSpeed {
  std::string_view name;  ///< "compute", "copy" or "gpu_clock"
  double value = 0.0;     ///< median of the samples; more is faster
  double lowest = 0.0;    ///< that of the slowest sample
  double highest = 0.0;   ///< that of the fastest sample
};
/// Returns the speeds of the machine in a result: those of its `calibration`, and the clock in its `disturbance`.
[[nodiscard]] std::vector<NamedSpeed> machine_speeds_in(const Value& result);

}  // namespace roentgen::bench
