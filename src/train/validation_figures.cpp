// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/validation_figures.h"

#include <array>
#include <cmath>
#include <limits>

#include "eval/table.h"
#include "train/observer.h"
#include "train/predict.h"
#include "train/ranks.h"

namespace roentgen::train {

void set_figures(EpochRecord& record, const Ranks& ranks, const PredictResult& result, const eval::EvalTable& table) {
  record.val_loss = result.loss;
  record.val_auroc = table.mean.value;
  record.labels_in_mean = table.labels_in_mean;
  record.labels_total = static_cast<std::int64_t>(table.labels.size());
  for (const eval::LabelResult& row : table.labels) {
    if (!row.auroc.value) record.labels_left_out.push_back(row.label);
  }
  // Processors of another kind may round a last digit otherwise; what follows from it must be the same.
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::array figures{*record.val_loss, record.val_auroc.value_or(none)};
  ranks.share(figures, {.name = "validation figures"});
  record.val_loss = figures[0];
  record.val_auroc = std::isnan(figures[1]) ? std::nullopt : std::optional(figures[1]);
}

}  // namespace roentgen::train
