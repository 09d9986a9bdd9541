// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The folder of a run: the paths of its files, and the checkpoints to keep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace roentgen::train {

/// Paths in a run folder. Value type.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}  ///< touches no file
  /// The folder.
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// Resolved recipe.
  [[nodiscard]] std::filesystem::path recipe() const { return root_ / "recipe.toml"; }
  /// Records of steps and epochs, a JSON object a line.
  [[nodiscard]] std::filesystem::path log() const { return root_ / "log.jsonl"; }
  /// Machine, libraries, program.
  [[nodiscard]] std::filesystem::path environment() const { return root_ / "environment.json"; }
  /// Kernels of a step, the inputs of their choice, and the fusions, from the last start.
  [[nodiscard]] std::filesystem::path plan() const { return root_ / "plan.json"; }
  /// Data folder and counts.
  [[nodiscard]] std::filesystem::path data() const { return root_ / "data.json"; }
  /// Data folders, a line each, as `--data` takes them: for `--resume`.
  [[nodiscard]] std::filesystem::path data_folders() const { return root_ / "data_folders.txt"; }
  /// Unreadable images met in training.
  [[nodiscard]] std::filesystem::path quarantine() const { return root_ / "quarantine.csv"; }
  /// Predictions of the best epoch on the validation images.
  [[nodiscard]] std::filesystem::path predictions() const { return root_ / "preds.csv"; }
  /// AUROC of every label, from the same predictions.
  [[nodiscard]] std::filesystem::path aurocs() const { return root_ / "aucs.csv"; }
  /// Trace of all ranks, from the last start with --trace.
  [[nodiscard]] std::filesystem::path trace() const { return root_ / "trace.json"; }
  /// Parts of the trace, a file a rank, during the run and after a kill until the next start.
  [[nodiscard]] std::filesystem::path trace_parts() const { return root_ / "trace.parts"; }
  /// Lock file that exists while a process trains here (train/run_lock.h).
  [[nodiscard]] std::filesystem::path lock() const { return root_ / "lock"; }
  /// Folder of weights and resume files.
  [[nodiscard]] std::filesystem::path checkpoints() const { return root_ / "checkpoints"; }
  /// Weights of the best epoch.
  [[nodiscard]] std::filesystem::path best() const { return checkpoints() / "best.safetensors"; }
  /// Everything that a resumed run needs.
  [[nodiscard]] std::filesystem::path resume() const { return checkpoints() / "resume.safetensors"; }
  /// "epoch-007.safetensors" (from 1): a kept best epoch.
  [[nodiscard]] static std::string epoch_file(std::int64_t epoch);
  /// All files and folders above, which nothing else may write to.
  [[nodiscard]] std::vector<std::filesystem::path> own() const;

  /// DataError when the folder could not be made or written to. Changes nothing.
  void check_place() const;
  /// Throws ConfigError when a run already exists (a recipe, log or checkpoint).
  void check_new() const;
  /// Throws ConfigError when there is no run, but foreign files or folders. Hidden ones do not count.
  void check_own() const;
  /// Makes the folders. ConfigError when there is a run already (a recipe, log or checkpoint), DataError when they
  /// cannot be made.
  void create_new() const;
  /// Throws ConfigError when a run left weights but no resume file, so that --resume cannot work.
  void check_resumable() const;
  /// Removes half-written files of a killed run, and makes a trace of its records; under the folder's lock.
  void remove_leftovers() const;
  /// remove_leftovers() of a run that has ended in any way. Does nothing while somebody trains here.
  void tidy_up() const;
  /// Removes a run's own files, and nothing else.
  void remove_run() const;

 private:
  std::filesystem::path root_;
};

/// Epochs whose weights are kept, best first: (file, score), higher is better.
using KeptBest = std::vector<std::pair<std::string, double>>;

/// Inserts (file, score) and cuts the list at `limit`. Of equal scores, the earlier one stays in front.
/// @return removed files, which may include `file` itself
[[nodiscard]] std::vector<std::string> keep_best(KeptBest& kept, const std::string& file, double score,
                                                 std::int64_t limit);

/// Must be called before a new resume file is written. Keeps the present one as resume-STEP.safetensors when limit > 1,
/// and removes the oldest such files beyond limit - 1.
void rotate_resume(const RunFolder& folder, std::int64_t step, std::int64_t limit);

}  // namespace roentgen::train
