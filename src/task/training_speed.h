// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures the training speed of this machine with a recipe: a few batches and updates of the same network on the same
// images.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace roentgen::data {
struct Dataset;
}
namespace roentgen::train {
struct Recipe;
}

namespace roentgen::task {

/// Result of a measurement of a few seconds, accurate to a fifth on a quiet machine.
struct TrainingSpeed {
  double images_per_s = 0.0;   ///< images of updates, waiting for input included: median over spans of updates
  double decoded_per_s = 0.0;  ///< images from files to batches, without updates
  double wait_share = 0.0;     ///< share of the updates' time spent waiting for input
  std::int64_t updates = 0;    ///< updates measured
  int threads = 1;             ///< compute threads
  /// Images that could not be read: indices into Dataset::samples, ascending.
  std::vector<std::uint32_t> unreadable{};

  /// Whether reading and decoding limit the training.
  [[nodiscard]] bool is_input_bound() const { return wait_share > 0.1; }
};

/// Limits of both parts of a measurement: a time, which the last batch or update may exceed, or a count.
struct SpeedLimits {
  double decoding_s = 4.0;          ///< seconds of batches alone
  double training_s = 8.0;          ///< seconds of updates; the first half of them is warm-up, if need be
  std::int64_t most_batches = 100;  ///< batches alone
  std::int64_t most_updates = 50;   ///< updates
  /// Called after each batch and update; may throw to end the measurement. May be empty.
  std::function<void()> on_step{};
};

/// Median seconds of an update. The updates are split into nine spans of equal length, or fewer. So neither a pause of
/// the machine nor batches that arrive in bursts decide the result. Last updates that fill no span do not count.
/// @param seconds of each update, in order, at least one
[[nodiscard]] double median_update_s(std::span<const double> seconds);

/// Measures the speed. Writes nothing. ConfigError and DataError as training: a recipe that does not fit the data,
/// images that cannot be read.
[[nodiscard]] TrainingSpeed measure_training_speed(const train::Recipe& recipe, const data::Dataset& dataset,
                                                   const SpeedLimits& limits = {});

}  // namespace roentgen::task
