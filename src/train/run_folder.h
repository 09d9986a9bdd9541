// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The folder of a run: the paths of its files, and the checkpoints to keep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roentgen::train {

/// Paths in a run folder. Value type.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}  ///< makes no folder or file
  /// Path of the run folder.
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// Recipe with all defaults filled in.
  [[nodiscard]] std::filesystem::path recipe() const { return root_ / "recipe.toml"; }
  /// Records of steps and epochs, one JSON object per line.
  [[nodiscard]] std::filesystem::path log() const { return root_ / "log.jsonl"; }
  /// Description of machine, libraries and program.
  [[nodiscard]] std::filesystem::path environment() const { return root_ / "environment.json"; }
  /// Kernel plan of the last start: the kernels of a step, the inputs of their choice, and the fusions.
  [[nodiscard]] std::filesystem::path plan() const { return root_ / "plan.json"; }
  /// Description of the data: folder and counts.
  [[nodiscard]] std::filesystem::path data() const { return root_ / "data.json"; }
  /// Data folders, one per line in the form of `--data`; `--resume` reads them.
  [[nodiscard]] std::filesystem::path data_folders() const { return root_ / "data_folders.txt"; }
  /// List of unreadable images that training met.
  [[nodiscard]] std::filesystem::path quarantine() const { return root_ / "quarantine.csv"; }
  /// Predictions of the best epoch for the validation images.
  [[nodiscard]] std::filesystem::path predictions() const { return root_ / "preds.csv"; }
  /// AUROC of every label, computed from predictions().
  [[nodiscard]] std::filesystem::path aurocs() const { return root_ / "aucs.csv"; }
  /// Trace of all ranks, from the last start with --trace.
  [[nodiscard]] std::filesystem::path trace() const { return root_ / "trace.json"; }
  /// Parts of the trace, one file per rank. Exists while the run lasts; after a kill, until the next start.
  [[nodiscard]] std::filesystem::path trace_parts() const { return root_ / "trace.parts"; }
  /// Lock file that exists while a process trains here (train/run_lock.h).
  [[nodiscard]] std::filesystem::path lock() const { return root_ / "lock"; }
  /// Folder of weights and resume files.
  [[nodiscard]] std::filesystem::path checkpoints() const { return root_ / "checkpoints"; }
  /// Weights of the best epoch.
  [[nodiscard]] std::filesystem::path best() const { return checkpoints() / "best.safetensors"; }
  /// Resume file, which contains everything that a resumed run needs.
  [[nodiscard]] std::filesystem::path resume() const { return checkpoints() / "resume.safetensors"; }
  /// Name of the weights file of an epoch (from 1): "epoch-007.safetensors".
  [[nodiscard]] static std::string epoch_file(std::int64_t epoch);
  /// Returns all files and folders above. Only the run may write to them.
  [[nodiscard]] std::vector<std::filesystem::path> own() const;

  /// Throws DataError if the folder cannot be created or written to, as check_place_of() finds out.
  void check_place() const;
  /// Throws ConfigError if the folder already contains a run (a recipe, log or checkpoint).
  void check_new() const;
  /// Throws ConfigError if the folder contains files but no run. Hidden files do not count.
  void check_own() const;
  /// Creates the folders. Throws ConfigError if there is already a run (a recipe, log or checkpoint), and DataError if
  /// they cannot be created.
  void create_new() const;
  /// Throws ConfigError if a run left weights but no resume file, because --resume cannot work then.
  void check_resumable() const;
  /// Removes half-written files of a killed run, and merges its trace parts into a trace. The caller must hold the
  /// folder's lock.
  void remove_leftovers() const;
  /// Calls remove_leftovers() after a run that has ended in any way. Does nothing while a process trains here.
  void tidy_up() const;
  /// Removes the files of a run, and nothing else.
  void remove_run() const;

 private:
  std::filesystem::path root_;
};

/// Throws DataError if a folder cannot be created or written to. Creates and removes an empty folder in it, or in its
/// nearest parent that exists.
/// @param named path that the user gave, for errors
/// @param option option that gave it, such as "--out", for errors
void check_place_of(const std::filesystem::path& folder, const std::filesystem::path& named, std::string_view option);

/// Weights files of the best epochs, best first, as pairs (file, score). A higher score is better.
using KeptBest = std::vector<std::pair<std::string, double>>;

/// Inserts (file, score) and cuts the list at `limit`. If scores are equal, the earlier file stays in front.
/// @return files dropped from the list, which may include `file` itself
[[nodiscard]] std::vector<std::string> keep_best(KeptBest& kept, const std::string& file, double score,
                                                 std::int64_t limit);

/// Must be called before a new resume file is written. If limit > 1, keeps the present file as resume-STEP.safetensors
/// and removes the oldest such files beyond limit - 1.
void rotate_resume(const RunFolder& folder, std::int64_t step, std::int64_t limit);

}  // namespace roentgen::train
