// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// resume.safetensors: everything that a run needs to continue as if it had never stopped.
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

/// Part of an epoch made with one number of ranks and one batch size.
struct RunLeg {
  std::int64_t ranks = 1;  ///< number of ranks
  /// Images of a rank's batch.
  std::int64_t batch = 1;
  /// Batches that each rank had.
  std::int64_t batches = 0;
  friend bool operator==(const RunLeg&, const RunLeg&) = default;
};

/// State of a run. Plain value; goes into the metadata as one JSON table.
struct RunState {
  /// Number of updates made, which schedule and optimizer count.
  std::int64_t step = 0;
  /// Current epoch (from 0), and updates made within it.
  std::int64_t epoch = 0;
  std::int64_t step_in_epoch = 0;  ///< updates made in it
  /// Sum of losses of the epoch so far.
  double loss_sum = 0.0;
  /// Best validation figure so far, higher is better; meaningless before the first.
  double best_score = 0.0;
  bool has_best = false;                        ///< whether there was a validation
  std::int64_t best_epoch = 0;                  ///< epoch of best_score, from 0
  std::int64_t epochs_without_improvement = 0;  ///< since best_epoch
  /// True when the last epoch is done or early stopping ended the run.
  bool is_finished = false;
  /// Schedule::state().
  Value schedule;
  /// Kept weights, best first: file name and score.
  std::vector<std::pair<std::string, double>> kept_best;
  /// Training images found unreadable so far (indices into dataset.samples, ascending): what train.max_bad counts.
  std::vector<std::uint32_t> bad_samples;
  /// Number of updates of an epoch, which must be the same for equal bits.
  std::int64_t updates_per_epoch = 0;
  /// Legs of the epoch so far; the last one is not finished.
  std::vector<RunLeg> legs;
  std::int64_t threads = 0;  ///< compute threads
  std::uint64_t seed = 0;    ///< train.seed
  /// Kernel choices of all ranks.
  RunPlan plan;
  /// Loss scale; nullopt without one.
  std::optional<engine::LossScale> loss_scale{};

  /// Number of updates if all epochs had as many as this one, which schedules count. Differs from `step` where an epoch
  /// began with other ranks.
  [[nodiscard]] std::int64_t schedule_step() const { return epoch * updates_per_epoch + step_in_epoch; }
  friend bool operator==(const RunState&, const RunState&) = default;
};

/// The state as one table.
[[nodiscard]] Value to_value(const RunState& state);
/// ConfigError naming the key that is missing or of another kind.
[[nodiscard]] RunState run_state_from_value(const Value& table);

/// Memory of a run besides its state.
struct RunMemory {
  engine::Executable& executable;  ///< weights and running statistics
  Optimizer& optimizer;            ///< optimizer with its state
  /// Null without train.ema.
  Ema* ema = nullptr;
  /// Result of gather_statistics(), where ranks hold different statistics; else empty.
  std::vector<float> rank_statistics{};
};

/// Writes weights, optimizer state ("optimizer.STATE.PARAMETER", plain layout), averages
/// ("optimizer.ema.PARAMETER") and metadata. Atomic; DataError on a full disk.
void write_resume(const std::filesystem::path& path, const RunMemory& memory, const CheckpointInfo& info,
                  const RunState& state);

/// A resume file, read completely before anything is changed.
struct Resume {
  CheckpointInfo info;               ///< description of the model
  RunState state;                    ///< position of the run
  std::vector<NamedTensor> weights;  ///< tensors of weights_of()
  /// Names as in the file.
  std::vector<NamedTensor> optimizer;
  std::vector<NamedTensor> ema;  ///< averages; empty without train.ema
  /// Running statistics of all ranks, as in RunMemory.
  std::vector<float> rank_statistics{};
};

/// Reads the metadata of best.safetensors or resume.safetensors alone. Throws as read_resume().
[[nodiscard]] CheckpointInfo read_checkpoint_info(const std::filesystem::path& path);

/// Reads the state alone, without tensors. Throws ConfigError as read_resume(path).
[[nodiscard]] RunState read_run_state(const std::filesystem::path& path);

/// Reads and validates the file. ConfigError or DataError naming the file: not a resume file, truncated, a key missing.
[[nodiscard]] Resume read_resume(const std::filesystem::path& path);
/// Loads weights and state. ConfigError when any tensor is missing, unexpected or of another shape; then nothing is
/// changed.
void apply_resume(const Resume& resume, const RunMemory& memory, std::string_view what);

}  // namespace roentgen::train
