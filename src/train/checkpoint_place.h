// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// --checkpoint-dir: writes checkpoints to a folder of this host and copies them to the run folder while training
// continues. A copy gets its name only when it is complete, so the run folder is always valid.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "train/run_folder.h"

namespace roentgen::train {

/// Returns the folder below `dir` for the checkpoints of one run. Its name depends on path and id (run_id()) of the
/// run, so that a run never reads files of another run.
[[nodiscard]] std::filesystem::path local_checkpoints(const RunFolder& run, const std::filesystem::path& dir);

/// Throws DataError if the folder of local_checkpoints() cannot be created or written to. Does nothing if `dir` is
/// empty.
void check_checkpoint_dir(const RunFolder& run, const std::filesystem::path& dir);

/// Returns the number of updates in the newest resume file of the run folder and `dir` (empty: none); -1 if no file can
/// be read.
[[nodiscard]] std::int64_t newest_step(const RunFolder& run, const std::filesystem::path& dir);

/// Copies the resume file of `dir` to the run folder if it is newer, after the weights it refers to. Does nothing if
/// there is none, `dir` is empty, or the run folder has no run or no id. Warns of a file that cannot be read, and of
/// folders that other runs at this path, or versions without ids, left in `dir`. Throws DataError if a copy fails.
void take_local_checkpoints(const RunFolder& run, const std::filesystem::path& dir);

/// Removes files that earlier runs of this run folder left in `dir`. Does not throw.
void remove_local_checkpoints(const RunFolder& run, const std::filesystem::path& dir);

/// Copies one file through a temporary file beside `to`, so that `to` is never incomplete. Stops without a copy once
/// `is_stopped` is true. Throws DataError.
void copy_checkpoint(const std::filesystem::path& from, const std::filesystem::path& to,
                     const std::atomic<bool>& is_stopped);

/// Writes checkpoints locally and copies them to the run folder. Not thread-safe.
class CheckpointPlace {
 public:
  using Copy = std::function<void(const std::filesystem::path& from, const std::filesystem::path& to,
                                  const std::atomic<bool>& is_stopped)>;

  /// Creates a private folder in `dir`; if `dir` is empty, checkpoints are written directly to the run folder. Throws
  /// DataError if the folder cannot be created.
  CheckpointPlace(RunFolder run, const std::filesystem::path& dir, Copy copy = copy_checkpoint);
  CheckpointPlace(const CheckpointPlace&) = delete;
  CheckpointPlace& operator=(const CheckpointPlace&) = delete;
  /// Gives running copies a few seconds and then stops them. The local files stay.
  ~CheckpointPlace();

  /// Returns the path to which to write the checkpoint that belongs at `path` in the run folder. Waits for earlier
  /// copies. Throws DataError if one failed, or if the folder no longer has the run that it had at the construction.
  [[nodiscard]] std::filesystem::path file(const std::filesystem::path& path);
  /// Starts to copy complete checkpoints to their paths in the run folder, in this order.
  void publish(const std::vector<std::filesystem::path>& paths);
  /// Removes a checkpoint from the local folder and the run folder.
  void remove(const std::filesystem::path& path);
  /// Waits for all copies and removes the local files. Throws DataError after `limit` or if a copy failed; then the
  /// local files stay for --resume.
  void finish(std::chrono::milliseconds limit);

 private:
  [[nodiscard]] std::filesystem::path local(const std::filesystem::path& path) const;

  RunFolder run_;
  std::string id_;                ///< id of the run at the construction; empty if it has none
  std::filesystem::path dir_;     ///< folder given to the constructor
  std::filesystem::path folder_;  ///< private folder; empty: checkpoints go directly to the run folder
  Copy copy_;
  std::atomic<bool> is_stopped_ = false;
  std::future<void> copies_;
};

}  // namespace roentgen::train
