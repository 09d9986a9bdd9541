// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TrainJob: the inputs of a run, checks that they fit together, and the metadata of its checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "train/servers/server_options.h"
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
namespace roentgen::runtime {
class DeviceMonitor;
}

namespace roentgen::train {

class Observer;
class RunFolder;
struct CheckpointInfo;
struct Recipe;

/// Whether a run starts or resumes.
enum class Start : std::uint8_t { Fresh, Resume };

/// A run, with everything it needs. Its pointers must outlive train().
struct TrainJob {
  const Recipe& recipe;          ///< settings of the run
  const data::Dataset& dataset;  ///< data set with labels and a training split
  /// Input "image" (recipe.train.batch, C, S, S) and output "logits" (batch, K); no loss.
  const graph::Graph& model;
  engine::Engine& engine;  ///< computes
  /// Run folder. It must exist once on_ready has returned; train() writes log.jsonl, checkpoints, preds.csv and
  /// aucs.csv into it.
  const RunFolder& folder;
  Start start = Start::Fresh;          ///< continue from folder.resume(), or begin
  std::vector<Observer*> observers{};  ///< notified of every step; owned by the caller
  /// Called once, after all checks that precede the first update and before anything is written: the time to make the
  /// folder. May be empty.
  std::function<void()> on_ready{};
  /// Polled after every update. True: write the resume file and stop, on all ranks.
  std::function<bool()> is_stop_asked{};
  /// Number of updates after which the run stops as if requested; 0 = none. For tests and time limits.
  std::int64_t stop_after_steps = 0;
  /// Folder of this host for checkpoints, which are then copied to `folder`; empty: none. CheckpointPlace. Of rank 0.
  std::filesystem::path checkpoint_dir{};
  /// Ranks that train together. Each takes recipe.train.batch images and has an equal job except for on_ready,
  /// observers and is_stop_asked. Rank 0 alone writes; the others need no folder. Null: this process alone.
  dist::CommThread* group = nullptr;
  /// Monitor of the engine's device, read about once a second. Null: none. The first rank's counts.
  runtime::DeviceMonitor* device_monitor = nullptr;
  /// Parameter servers among the ranks of the group, its last ones; sync: none. Equal on all ranks.
  ServerOptions servers{};
  /// Options of folder.trace(); a failed run leaves the trace, too. nullopt: no trace. Equal on all ranks.
  std::optional<TraceOptions> trace{};
};

/// Throws ConfigError when the recipe, the data and the model do not fit together. Reasons: no training images, an
/// AUROC that will be undefined, another number of labels or channels. Reads no file and changes nothing.
void check_job(const TrainJob& job);

/// Returns the metadata of this run's checkpoints; step, epoch and metric are left at 0.
[[nodiscard]] CheckpointInfo describe_run(const TrainJob& job);

}  // namespace roentgen::train
