// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// resume.safetensors: everything that a run needs to continue as if it had not been interrupted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/value.h"
#include "engine/loss_scale.h"
#include "train/checkpoint_info.h"
#include "train/one_plan.h"
#include "train/weights.h"

namespace roentgen::train {

class Ema;
class Optimizer;

/// Part of an epoch during which the number of ranks and the batch size did not change.
struct RunLeg {
  std::int64_t ranks = 1;  ///< number of ranks
  /// Number of images in a rank's batch.
  std::int64_t batch = 1;
  /// Number of batches that each rank processed.
  std::int64_t batches = 0;
  friend bool operator==(const RunLeg&, const RunLeg&) = default;
};

/// Progress of a run, which is stored in the file's metadata as a JSON table.
struct RunState {
  /// Number of updates made so far.
  std::int64_t step = 0;
  /// Current epoch, counted from 0.
  std::int64_t epoch = 0;
  std::int64_t step_in_epoch = 0;  ///< updates made in the current epoch
  /// Sum of the losses of all updates so far in the current epoch.
  double loss_sum = 0.0;
  /// Best validation metric so far, higher is better; meaningless before the first validation.
  double best_score = 0.0;
  bool has_best = false;                        ///< true once a validation was done
  std::int64_t best_epoch = 0;                  ///< epoch of best_score, counted from 0
  std::int64_t epochs_without_improvement = 0;  ///< epochs since best_epoch
  /// True if the last epoch is done or early stopping ended the run.
  bool is_finished = false;
  /// State of the learning rate schedule: Schedule::state().
  Value schedule;
  /// File name and score of each kept weights file, best first.
  std::vector<std::pair<std::string, double>> kept_best;
  /// Training images found unreadable so far, which train.max_bad limits: indices into dataset.samples, ascending.
  std::vector<std::uint32_t> bad_samples;
  /// Number of updates in an epoch. It must be unchanged for a resumed run to give the same bits.
  std::int64_t updates_per_epoch = 0;
  /// Legs of the current epoch; the last one is not finished.
  std::vector<RunLeg> legs;
  std::int64_t threads = 0;  ///< compute threads
  std::uint64_t seed = 0;    ///< seed from train.seed of the recipe
  /// Kernel choices of all ranks.
  RunPlan plan;
  /// Size of gradient buckets in MiB that a BucketTuner chose; 0: none yet.
  double bucket_mb = 0.0;
  /// How several ranks average gradients: CommThread::way(). Empty: one process, or a file of an older version.
  std::string averages{};
  /// Update mode and servers: text_of(ServerOptions). Empty: a file of an older version.
  std::string updates{};
  /// Loss scale; nullopt if the loss is not scaled.
  std::optional<engine::LossScale> loss_scale{};

  /// Position in the learning rate schedule: the number of updates if all epochs were as long as this one. Differs from
  /// `step` if an epoch began with another number of ranks.
  [[nodiscard]] std::int64_t schedule_step() const { return epoch * updates_per_epoch + step_in_epoch; }
  friend bool operator==(const RunState&, const RunState&) = default;
};

/// Returns the state as a JSON table.
[[nodiscard]] Value to_value(const RunState& state);
/// Reads the state from a JSON table. Throws ConfigError, which names the key, if one is missing or of the wrong type.
[[nodiscard]] RunState run_state_from_value(const Value& table);

/// Tensors of a run, which are stored in addition to its RunState.
struct RunMemory {
  engine::Executable& executable;  ///< weights and running statistics
  Optimizer& optimizer;            ///< optimizer with its state
  /// Weight averages; null if the recipe does not set train.ema.
  Ema* ema = nullptr;
  /// Result of gather_statistics() if the ranks' running statistics differ; otherwise empty.
  std::vector<float> rank_statistics{};
};

/// Writes weights, optimizer state ("optimizer.STATE.PARAMETER", row-major), weight averages
/// ("optimizer.ema.PARAMETER") and metadata. The file is replaced atomically. Throws DataError if the disk is full.
void write_resume(const std::filesystem::path& path, const RunMemory& memory, const CheckpointInfo& info,
                  const RunState& state);

/// Contents of a resume file, which is read completely before anything is changed.
struct Resume {
  CheckpointInfo info;               ///< description of the model
  RunState state;                    ///< progress of the run
  std::vector<NamedTensor> weights;  ///< weights and running statistics, as from weights_of()
  /// Optimizer state, with tensor names as in the file.
  std::vector<NamedTensor> optimizer;
  std::vector<NamedTensor> ema;  ///< weight averages; empty without train.ema
  /// Running statistics of all ranks, see RunMemory.
  std::vector<float> rank_statistics{};
};

/// Reads only the metadata of best.safetensors or resume.safetensors. Throws like read_resume().
[[nodiscard]] CheckpointInfo read_checkpoint_info(const std::filesystem::path& path);

/// Reads only the run state, without tensors. Throws ConfigError like read_resume().
[[nodiscard]] RunState read_run_state(const std::filesystem::path& path);

/// Reads and validates a resume file. Throws ConfigError or DataError, which name the file, if it is no resume file, is
/// truncated, or lacks a key.
[[nodiscard]] Resume read_resume(const std::filesystem::path& path);
/// Loads weights and state into the executable and optimizer. Throws ConfigError, without changing anything, if a
/// tensor is missing, unexpected or has a wrong shape.
void apply_resume(const Resume& resume, const RunMemory& memory, std::string_view what);

}  // namespace roentgen::train
