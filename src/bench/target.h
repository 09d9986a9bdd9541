// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Target of a long test: a validation metric and its value, and the time that a run took to reach it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace roentgen::bench {

/// Validation metric and the value to reach.
struct Target {
  std::string metric = "auroc";  ///< "auroc": mean over the labels; "top1": accuracy of exclusive classes
  double value = 0.0;

  /// Key of the metric in epochs of log.jsonl.
  [[nodiscard]] std::string key() const { return "val_" + metric; }
};

/// Parses "auroc=0.84" or "top1=0.762". Throws ConfigError unless the value is above 0 and at most 1.
[[nodiscard]] Target parse_target(std::string_view text);

/// Progress of a run towards its target.
struct TargetTime {
  std::optional<std::int64_t> epochs{};  ///< number of epochs until the target was reached; nullopt: not yet
  std::int64_t epochs_done = 0;          ///< number of epochs with a validation
  std::optional<double> best{};          ///< best value of these epochs
  /// Time of updates with their waits for images, and of validations: until the target, or of the run so far.
  double train_s = 0.0;
  double val_s = 0.0;
  double images = 0.0;  ///< number of images of these updates

  [[nodiscard]] double seconds() const { return train_s + val_s; }
  [[nodiscard]] double images_per_s() const { return train_s > 0.0 ? images / train_s : 0.0; }
};

/// Reads the progress from a run's log.jsonl, which contains every update and epoch once, also after a resume. Work
/// that a killed run lost is not in it. A missing log is a run that has not begun. Throws DataError for a log without
/// the time of updates.
[[nodiscard]] TargetTime time_to_target(const Target& target, const std::filesystem::path& log);

}  // namespace roentgen::bench
