// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Training loop: epochs of updates, validation, selection of the best epoch, checkpoints, resume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/value.h"
#include "engine/loss_scale.h"
#include "train/device_watch.h"
#include "train/train_job.h"

namespace roentgen::train {

/// Result of a training run.
struct TrainOutcome {
  bool is_finished = false;  ///< false if the run stopped before its end, with everything saved
  std::int64_t step = 0;     ///< total number of updates, including those before a resume
  std::int64_t epochs = 0;   ///< number of finished epochs
  /// Best epoch, counted from 0.
  std::int64_t best_epoch = 0;
  std::optional<double> best_value;  ///< validation metric of the best epoch; nullopt without validation
  /// Mean loss of the last epoch in which this process trained.
  double train_loss = 0.0;
  /// Total time of the updates in seconds.
  double step_seconds = 0.0;
  double data_wait_seconds = 0.0;  ///< part of step_seconds spent waiting for data
  /// Part of step_seconds spent waiting for other ranks.
  double comm_exposed_seconds = 0.0;
  std::int64_t images = 0;  ///< images of the updates that this process made
  /// Planned peak of memory in bytes, without input, as logged before the first step.
  std::size_t planned_bytes = 0;
  /// Loss scale at the end, with the number of updates that an overflow skipped; nullopt if the loss is not scaled.
  std::optional<engine::LossScale> loss_scale{};
  /// Use of the first rank's device during the updates of this process; nullopt if it was not measured.
  std::optional<DeviceFigures> device{};
};

/// Trains a model. Throws ConfigError if the recipe, initial weights or resume file do not fit, or the ranks differ.
/// Throws DataError for bad images, a full disk or a loss that is not finite. Throws CommError like dist::CommThread,
/// and if weights differ between ranks.
[[nodiscard]] TrainOutcome train(const TrainJob& job);

/// Returns the contents of --json of `roentgen train`, see docs/reference/formats/run.md.
/// @param folder run folder, from which the paths of the weights are taken
[[nodiscard]] Value to_value(const TrainOutcome& outcome, const RunFolder& folder);

}  // namespace roentgen::train
