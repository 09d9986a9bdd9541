// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts the outcome of a run to JSON.
#include <optional>

#include "train/observer.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace roentgen::train {

Value to_value(const TrainOutcome& outcome, const RunFolder& folder) {
  const double seconds = outcome.step_seconds;
  const auto per_second = [seconds](double amount) { return seconds > 0.0 ? amount / seconds : 0.0; };
  Value table =
      Value::Table{{"finished", outcome.is_finished},
                   {"step", outcome.step},
                   {"epochs", outcome.epochs},
                   {"best_epoch", outcome.best_epoch + 1},
                   {"best_value", outcome.best_value ? Value(*outcome.best_value) : Value(nullptr)},
                   {"train_loss", outcome.train_loss},
                   {"images_per_s", per_second(static_cast<double>(outcome.images))},
                   {"data_wait", per_second(outcome.data_wait_seconds)},
                   {"comm_exposed", per_second(outcome.comm_exposed_seconds)},
                   {"bound", bound_by(outcome.data_wait_seconds, seconds, outcome.comm_exposed_seconds,
                                      outcome.device ? std::optional(outcome.device->busy_percent) : std::nullopt)},
                   {"planned_bytes", outcome.planned_bytes},
                   {"best", folder.best().string()},
                   {"resume", folder.resume().string()}};
  if (outcome.loss_scale) {
    table.set("loss_scale", outcome.loss_scale->scale);
    table.set("skipped_updates", outcome.loss_scale->skipped);
  }
  if (outcome.device) table.set("device", to_value(*outcome.device));
  return table;
}

}  // namespace roentgen::train
