// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/outcome_value.h"

#include "train/observer.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace roentgen::train {

Value outcome_value(const TrainOutcome& outcome, const RunFolder& folder) {
  Value json = Value::table();
  json.set("finished", outcome.is_finished);
  json.set("step", outcome.step);
  json.set("epochs", outcome.epochs);
  json.set("best_epoch", outcome.best_epoch + 1);
  json.set("best_value", outcome.best_value ? Value(*outcome.best_value) : Value(nullptr));
  json.set("train_loss", outcome.train_loss);
  json.set("images_per_s",
           outcome.step_seconds > 0.0 ? static_cast<double>(outcome.images) / outcome.step_seconds : 0.0);
  json.set("data_wait", outcome.step_seconds > 0.0 ? outcome.data_wait_seconds / outcome.step_seconds : 0.0);
  json.set("comm_exposed", outcome.step_seconds > 0.0 ? outcome.comm_exposed_seconds / outcome.step_seconds : 0.0);
  json.set("bound", bound_by(outcome.data_wait_seconds, outcome.step_seconds, outcome.comm_exposed_seconds));
  json.set("planned_bytes", outcome.planned_bytes);
  json.set("best", folder.best().string());
  json.set("resume", folder.resume().string());
  return json;
}

}  // namespace roentgen::train
