// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TrainRun: trains in a run folder, new or existing. Shared by `roentgen train` and Python's roentgen.train().
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/value.h"
#include "data/source/dataset.h"
#include "engine/device.h"
#include "train/recipe.h"
#include "train/run_folder.h"
#include "train/run_lock.h"
#include "train/trace_options.h"
#include "train/train_job.h"
#include "train/trainer.h"

namespace roentgen::task {

/// Treatment of an existing run in the folder.
enum class EarlierRun : std::uint8_t {
  Refuse,     ///< training is refused
  Resume,     ///< training continues the run, or starts it if there is none
  Overwrite,  ///< the run's files are removed
};

/// Options of a TrainRun.
struct TrainRunOptions {
  EarlierRun earlier = EarlierRun::Refuse;     ///< handling of a run that exists in the folder
  std::int64_t stop_after_steps = 0;           ///< TrainJob::stop_after_steps
  std::filesystem::path checkpoint_dir{};      ///< TrainJob::checkpoint_dir
  std::optional<train::TraceOptions> trace{};  ///< TrainJob::trace
  dist::CommThread* group = nullptr;           ///< the ranks that train together; null: this process alone
  train::ServerOptions servers{};              ///< TrainJob::servers
  std::vector<train::Observer*> observers{};   ///< called for every step on rank 0; owned by the caller
  /// Called when the data set is listed. May be empty.
  std::function<void(const data::Dataset& dataset)> on_data{};
  /// Called when everything is ready for the first update; stops are requested from here on. May be empty.
  std::function<void()> on_start{};
  std::function<bool()> is_stop_asked{};  ///< TrainJob::is_stop_asked
  bool may_share_device = false;          ///< train::require_own_device()
  /// Device of this rank, where ranks are threads of one process; nullopt: that of train::own_device().
  std::optional<engine::DeviceChoice> device{};
};

/// Trains one run after the other on the same data, which are listed once unless section [data] of the recipe changes.
/// Not thread-safe.
class TrainRun {
 public:
  explicit TrainRun(TrainRunOptions options) : options_(std::move(options)) {}  ///< touches no file
  /// Checks everything that can be checked without listing the data, which may take minutes. For a resumed run, sets
  /// train.algorithms in the recipe to the stored value. Throws ConfigError or DataError of one line.
  /// @return whether the run starts or resumes
  train::Start check(train::Recipe& recipe, const train::RunFolder& folder) const;
  /// Trains in `folder`, under its lock. A run that fails before its first update leaves nothing behind; one that
  /// fails later can be resumed. Throws as check(), data::load_dataset() and train::train().
  [[nodiscard]] train::TrainOutcome train(train::Recipe recipe, const train::RunFolder& folder);

 private:
  [[nodiscard]] train::Start begin(train::Recipe& recipe, const train::RunFolder& folder, engine::Engine& engine);
  [[nodiscard]] const data::Dataset& load_data(const train::Recipe& recipe);
  void make_folder(const train::Recipe& recipe, const engine::Engine& engine, const train::RunFolder& folder);
  [[nodiscard]] train::TrainOutcome train_in(const train::TrainJob& job);

  const TrainRunOptions options_;
  /// Data set, loaded once for all runs. It is loaded again if a run has another section [data], or if a resumed run
  /// draws splits by another rule.
  std::optional<data::Dataset> dataset_;
  Value dataset_section_;
  data::SplitRule dataset_rule_ = data::SplitRule::Normal;
  /// Lock of the run folder, taken before the first access to it, or when it is created.
  std::optional<train::RunLock> lock_;
  /// Whether the folder now holds only files of this run.
  bool is_made_ = false;
};

}  // namespace roentgen::task
