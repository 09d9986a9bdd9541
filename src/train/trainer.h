// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The training loop: epochs of updates, validation, selection, checkpoints, resume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/value.h"
#include "engine/loss_scale.h"
#include "train/device_watch.h"
#include "train/train_job.h"

namespace roentgen::train {

/// End of a run.
struct TrainOutcome {
  bool is_finished = false;  ///< false: the run stopped early, with everything saved
  std::int64_t step = 0;     ///< updates made in all
  std::int64_t epochs = 0;   ///< epochs finished
  /// Best epoch (from 0) and its metric; no metric without validation.
  std::int64_t best_epoch = 0;
  std::optional<double> best_value;  ///< the figure
  /// Mean loss of the last epoch that was run here.
  double train_loss = 0.0;
  /// Whole time of updates, and the part spent waiting for data.
  double step_seconds = 0.0;
  double data_wait_seconds = 0.0;  ///< part of step_seconds spent waiting for data
  /// Part of step_seconds spent waiting for other ranks.
  double comm_exposed_seconds = 0.0;
  std::int64_t images = 0;  ///< images of the updates made here
  /// Planned peak of memory except the input, as logged before the first step.
  std::size_t planned_bytes = 0;
  /// Loss scale at the end, and the number of updates that overflows skipped; none when the loss is not scaled.
  std::optional<engine::LossScale> loss_scale{};
  /// Use of the first rank's device by the updates made here; none where it was not read.
  std::optional<DeviceFigures> device{};
};

/// Trains. Throws ConfigError (recipe, init or resume file that does not fit, ranks that differ) and DataError (images,
/// disk, a loss that is not finite). Throws CommError as dist::CommThread, and for weights that differ between ranks.
[[nodiscard]] TrainOutcome train(const TrainJob& job);

/// Contents of --json of `roentgen train`: docs/reference/formats/run.md.
/// @param folder run folder, for the paths of its weights
[[nodiscard]] Value to_value(const TrainOutcome& outcome, const RunFolder& folder);

}  // namespace roentgen::train
