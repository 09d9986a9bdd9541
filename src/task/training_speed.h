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

/// Result of a speed measurement that takes a few seconds. On an idle machine it is accurate to 20%.
struct TrainingSpeed {
  double images_per_s = 0.0;   ///< images trained per second, including waits for input: median over spans of updates
  double decoded_per_s = 0.0;  ///< images per second from files to batches, without training
  double wait_share = 0.0;     ///< share of the training time spent waiting for input
  std::int64_t updates = 0;    ///< number of measured updates
  int threads = 1;             ///< number of compute threads
  /// Unreadable images, as indices into Dataset::samples, ascending.
  std::vector<std::uint32_t> unreadable{};

  /// True if reading and decoding limit the training speed.
  [[nodiscard]] bool is_input_bound() const { return wait_share > 0.1; }
};

/// Limits of the two parts of a measurement: decoding alone, and training. Each ends at a time, which the last batch or
/// update may exceed, or at a count.
struct SpeedLimits {
  double decoding_s = 4.0;          ///< seconds of decoding alone
  double training_s = 8.0;          ///< seconds of training; the first half is warm-up, if needed
  std::int64_t most_batches = 100;  ///< largest number of batches decoded alone
  std::int64_t most_updates = 50;   ///< largest number of training updates
  /// Callback after each batch and update. May throw to end the measurement. May be empty.
  std::function<void()> on_step{};
};

/// Median time of an update in seconds. The updates are divided into at most nine spans of equal length, so that single
/// pauses and bursts of batches do not matter. Remaining updates at the end are ignored.
/// @param seconds time of each update in order; at least one
[[nodiscard]] double median_update_s(std::span<const double> seconds);

/// Measures the training speed; writes nothing. Throws ConfigError and DataError as training does, if the recipe does
/// not fit the data or images cannot be read.
[[nodiscard]] TrainingSpeed measure_training_speed(const train::Recipe& recipe, const data::Dataset& dataset,
                                                   const SpeedLimits& limits = {});

}  // namespace roentgen::task
