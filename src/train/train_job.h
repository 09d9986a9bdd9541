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

/// Inputs of a training run. Its references and pointers must outlive train().
struct TrainJob {
  const Recipe& recipe;          ///< settings of the run
  const data::Dataset& dataset;  ///< data set with labels and a training split
  /// Input "image" (recipe.train.batch, C, S, S) and output "logits" (batch, K); no loss.
  const graph::Graph& model;
  engine::Engine& engine;  ///< engine that computes
  /// Run folder, which must exist when on_ready returns. train() writes log.jsonl, checkpoints, preds.csv and aucs.csv
  /// into it.
  const RunFolder& folder;
  Start start = Start::Fresh;          ///< whether to continue from folder.resume()
  std::vector<Observer*> observers{};  ///< notified of every step; owned by the caller
  /// Called once, after all checks before the first update and before anything is written, to create the folder. May be
  /// empty.
  std::function<void()> on_ready{};
  /// Called after every update. If it returns true, all ranks write the resume file and stop.
  std::function<bool()> is_stop_asked{};
  /// Number of updates after which the run stops as if requested; 0: no limit. For tests and time limits.
  std::int64_t stop_after_steps = 0;
  /// Local folder of rank 0 for checkpoints, which CheckpointPlace then copies to `folder`; empty: writes to `folder`.
  std::filesystem::path checkpoint_dir{};
  /// Ranks that train together, each with batches of recipe.train.batch images. Their jobs must be equal except for
  /// on_ready, observers and is_stop_asked. Only rank 0 writes files. Null for a single process.
  dist::CommThread* group = nullptr;
  /// Monitor of the engine's device on rank 0, read about once a second; may be null.
  runtime::DeviceMonitor* device_monitor = nullptr;
  /// Update mode and parameter servers, which are the last ranks of the group. Equal on all ranks.
  ServerOptions servers{};
  /// Options of the trace in folder.trace(), which even a failed run writes; nullopt: no trace. Equal on all ranks.
  std::optional<TraceOptions> trace{};
};

/// Throws ConfigError if recipe, data and model do not fit together. Reasons: no training images, an AUROC that will be
/// undefined, another number of labels or channels. Reads no file and changes nothing.
void check_job(const TrainJob& job);

/// Returns the metadata of this run's checkpoints; step, epoch and metric are left at 0.
[[nodiscard]] CheckpointInfo describe_run(const TrainJob& job);

}  // namespace roentgen::train
