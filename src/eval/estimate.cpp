// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/estimate.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace roentgen::eval {

static_assert(kFewestPatients == 5 && kMostUndefined == 0.10, "the reasons in estimate.h say these numbers");

bool has_few_patients(const Predictions& predictions, std::size_t label, const Clusters& clusters) {
  std::vector<bool> with(static_cast<std::size_t>(clusters.count), false);
  std::vector<bool> without(with.size(), false);
  const std::size_t K = predictions.label_names.size();
  for (std::size_t i = 0; i < clusters.index.size(); ++i) {
    const std::int8_t truth = predictions.labels[i * K + label];
    if (truth != kUnknown) (truth == 1 ? with : without)[clusters.index[i]] = true;
  }
  return std::min(std::ranges::count(with, true), std::ranges::count(without, true)) < kFewestPatients;
}

Estimate estimate_from(double value, const Replicates& replicates, std::size_t column, double level,
                       std::string_view few) {
  Estimate estimate{.value = value};
  if (replicates.columns == 0 || replicates.values.empty()) return estimate;
  const std::int64_t total = std::ssize(replicates.values) / replicates.columns;
  std::vector<double> values = replicates.defined(static_cast<std::int64_t>(column));
  estimate.replicates_left_out = total - std::ssize(values);
  if (!few.empty()) {
    estimate.no_interval = few;
  } else if (static_cast<double>(estimate.replicates_left_out) > kMostUndefined * static_cast<double>(total)) {
    estimate.no_interval = kOftenUndefined;
  } else {
    estimate.interval = percentile_interval(std::move(values), level);
  }
  return estimate;
}

Value estimate_value(const Estimate& estimate, std::string_view key) {
  return Value::Table{{std::string(key), estimate.value ? Value(*estimate.value) : Value()},
                      {"low", estimate.interval ? Value(estimate.interval->low) : Value()},
                      {"high", estimate.interval ? Value(estimate.interval->high) : Value()}};
}

void add_gaps(Value& row, const Estimate& estimate) {
  if (!estimate.value && !estimate.reason.empty()) row.set("undefined", Value(estimate.reason));
  if (estimate.replicates_left_out > 0) row.set("left_out", Value(estimate.replicates_left_out));
  if (!estimate.no_interval.empty()) row.set("no_interval", Value(estimate.no_interval));
}

}  // namespace roentgen::eval
