// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The training loop: epochs of updates, validation, selection, checkpoints, resume.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "train/trace_options.h"

namespace roentgen::data {
struct Dataset;
}
namespace roentgen::dist {
class CommThread;
}
namespace roentgen::engine {
class Engine;
}
namespace roentgen::graph {
class Graph;
}

namespace roentgen::train {

class Observer;
class RunFolder;
struct Recipe;

/// Whether a run begins or goes on.
enum class Start : std::uint8_t { Fresh, Resume };

/// A run, with everything it needs. What it points at must outlive train().
struct TrainJob {
  const Recipe& recipe;          ///< settings of the run
  const data::Dataset& dataset;  ///< with labels and a training split
  /// Input "image" (recipe.train.batch, C, S, S) and output "logits" (batch, K); no loss.
  const graph::Graph& model;
  engine::Engine& engine;  ///< computes
  /// There once on_ready has returned; train() fills log.jsonl, checkpoints, preds.csv and aucs.csv.
  const RunFolder& folder;
  Start start = Start::Fresh;          ///< go on from folder.resume(), or begin
  std::vector<Observer*> observers{};  ///< are told of every step; owned by the caller
  /// Called once before anything is written, when all that can be refused before the first update has been: the time to
  /// make the folder. May be empty.
  std::function<void()> on_ready{};
  /// Asked after every update; true: write the resume file and stop, on all ranks.
  std::function<bool()> is_stop_asked{};
  /// Stop, as if asked, after so many updates in all; 0 = none. For tests and time limits.
  std::int64_t stop_after_steps = 0;
  /// The ranks that train together: recipe.train.batch images each, a job that is equal but for on_ready, observers and
  /// is_stop_asked. Rank 0 alone writes; the others need no folder. Null: this process alone.
  dist::CommThread* group = nullptr;
  /// Content of folder.trace(), also of a run that fails; nothing: no trace. Equal on all ranks.
  std::optional<TraceOptions> trace{};
};

/// How a run ended.
struct TrainOutcome {
  bool is_finished = false;  ///< false: stopped, with everything saved
  std::int64_t step = 0;     ///< updates made in all
  std::int64_t epochs = 0;   ///< epochs finished
  /// Epoch (from 0) and figure of the selection; no figure without validation.
  std::int64_t best_epoch = 0;
  std::optional<double> best_value;  ///< the figure
  /// Mean loss of the last epoch that was run here.
  double train_loss = 0.0;
  /// Whole time of updates, and the part spent waiting for data.
  double step_seconds = 0.0;
  double data_wait_seconds = 0.0;  ///< part of step_seconds spent waiting for data
  /// The part spent waiting for other ranks.
  double comm_exposed_seconds = 0.0;
  std::int64_t images = 0;  ///< images of the updates made here
  /// Peak of memory beside the input, as planned and told before the first step.
  std::size_t planned_bytes = 0;
};

/// Runs it. Throws ConfigError (recipe, init or resume file that does not fit, ranks that differ), DataError (images,
/// disk, a loss that is not finite), CommError (as dist::CommThread; weights that are not the same on all ranks).
[[nodiscard]] TrainOutcome train(const TrainJob& job);

}  // namespace roentgen::train
