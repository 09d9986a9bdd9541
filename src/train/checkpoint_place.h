// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// --checkpoint-dir: checkpoints are written to a folder of this host, and copied to the run folder while training goes
// on. A copy appears under its name only when it is whole, so the run folder is valid at any time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <vector>

#include "train/run_folder.h"

namespace roentgen::train {

/// The folder below `dir` for the checkpoints of one run; its name depends on the run's path alone.
[[nodiscard]] std::filesystem::path local_checkpoints(const RunFolder& run, const std::filesystem::path& dir);

/// Updates in the newest resume file of the run folder and of `dir` (empty: none); -1 without any that can be read.
[[nodiscard]] std::int64_t newest_step(const RunFolder& run, const std::filesystem::path& dir);

/// Copies a resume file of `dir` that is newer than the run folder's to that, with the weights it needs first. Does
/// nothing without one, for an empty `dir`, or where the run folder has no run. Warns of a file that cannot be read.
/// Throws DataError where a copy fails.
void take_local_checkpoints(const RunFolder& run, const std::filesystem::path& dir);

/// Removes what earlier runs of this folder left in `dir`. Does not fail.
void remove_local_checkpoints(const RunFolder& run, const std::filesystem::path& dir);

/// Copies one file whole, through a temporary beside `to`; returns without it once `is_stopped`. Throws DataError.
void copy_checkpoint(const std::filesystem::path& from, const std::filesystem::path& to,
                     const std::atomic<bool>& is_stopped);

/// Place where checkpoints are written. One thread.
class CheckpointPlace {
 public:
  using Copy = std::function<void(const std::filesystem::path& from, const std::filesystem::path& to,
                                  const std::atomic<bool>& is_stopped)>;

  /// Makes a private folder in `dir`; with an empty `dir`, checkpoints go to the run folder at once. Throws DataError
  /// where it cannot be made.
  CheckpointPlace(RunFolder run, const std::filesystem::path& dir, Copy copy = copy_checkpoint);
  CheckpointPlace(const CheckpointPlace&) = delete;
  CheckpointPlace& operator=(const CheckpointPlace&) = delete;
  /// Gives copies under way some seconds, and then stops them. The local files stay.
  ~CheckpointPlace();

  /// Path to write the checkpoint to that belongs at `path` in the run folder. Waits for the copies of earlier ones.
  /// Throws DataError where one failed.
  [[nodiscard]] std::filesystem::path file(const std::filesystem::path& path);
  /// Starts to copy checkpoints, which are written whole, to their paths in the run folder, in this order.
  void publish(const std::vector<std::filesystem::path>& paths);
  /// Removes a checkpoint in both places.
  void remove(const std::filesystem::path& path);
  /// Waits for all copies, and removes the local files. Throws DataError after `limit`, or where a copy failed; the
  /// local files then stay for --resume.
  void finish(std::chrono::milliseconds limit);

 private:
  [[nodiscard]] std::filesystem::path local(const std::filesystem::path& path) const;

  RunFolder run_;
  std::filesystem::path dir_;     ///< as given
  std::filesystem::path folder_;  ///< empty: the run folder
  Copy copy_;
  std::atomic<bool> is_stopped_ = false;
  std::future<void> copies_;
};

}  // namespace roentgen::train
