// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TrainSeries: the runs of `roentgen train` with --seeds, --sweep, or both: one for each combination of the swept
// values and each seed. At the end, their metrics are averaged over seeds and compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/sweep_points.h"
#include "cli/train_options.h"
#include "eval/seed_table.h"
#include "score/compared_side.h"
#include "task/train_run.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::cli {

/// Trains one run and prints its result.
using TrainOne = std::function<CommandResult(const train::Recipe& recipe, const train::RunFolder& folder)>;

/// Several runs of one command line. For use by one thread.
class TrainSeries {
 public:
  /// Plans the runs of the options, which must outlive this object. Touches no file. Throws as parse_seeds() and
  /// parse_sweep() do.
  explicit TrainSeries(const TrainOptions& options);

  /// Folders of all runs, in the order in which they train; at least one.
  [[nodiscard]] std::vector<train::RunFolder> folders() const;
  /// Files and folders that the series writes.
  [[nodiscard]] Paths own() const;
  /// Checks all recipes and folders, then trains the runs that have not finished, and compares them. The JSON has
  /// "seeds" and "auroc" (eval::to_value() of the seeds) or, with --sweep, "runs" and "sweep" (score::to_value()).
  /// With --sweep, a point with a failed run is listed with its reason, and the exit code is then kFailure.
  /// Returns the result of the first run that was stopped. Throws ConfigError and DataError before the first run trains
  /// if a recipe or folder is refused, and if two points have the same recipe. Without --sweep, throws as `train_one`
  /// does.
  [[nodiscard]] CommandResult run(const task::TrainRun& runs, const TrainOne& train_one) const;

 private:
  struct Run {
    std::size_t point = 0;
    std::optional<std::int64_t> seed{};  // nullopt without --seeds
    train::RunFolder folder;
    std::string name{};  // "seed 0", or "optimizer.lr=0.001, seed 0"
    train::Recipe recipe{};
    std::string failed{};  // reason of a failure; empty if the run has finished
  };
  /// Returns all runs with their recipes, after all checks.
  [[nodiscard]] std::vector<Run> checked_runs(const task::TrainRun& runs) const;
  [[nodiscard]] std::filesystem::path point_folder(const SweepPoint& point) const;
  [[nodiscard]] Value run_value(const Run& run) const;
  /// Trains one run. With --sweep, an error becomes the reason in `run`, and the result has kFailure.
  [[nodiscard]] CommandResult train(Run& run, const TrainOne& train_one) const;
  /// Reason of the first failed run of a point, with the name of its seed; empty if none failed.
  [[nodiscard]] static std::string failure_of(const std::vector<Run>& runs, std::size_t point);
  [[nodiscard]] static eval::SeedTable seed_table(const std::vector<Run>& runs, std::size_t point);
  [[nodiscard]] std::vector<score::ComparedSide> sides_of(const std::vector<Run>& runs) const;
  void add_seeds(const std::vector<Run>& runs, Value& json) const;
  void add_sweep(const std::vector<Run>& runs, Value& json) const;

  const TrainOptions& options_;
  std::vector<SweptKey> keys_;
  std::vector<SweepPoint> points_;  // one point without values unless --sweep is given
  std::vector<Run> planned_;        // without recipes
};

}  // namespace roentgen::cli
