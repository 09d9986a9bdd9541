// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/table.h"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "eval/auroc.h"

namespace roentgen::eval {
namespace {
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// The images of one label whose truth is known, ranked.
RankedScores rank_label(const Predictions& predictions, std::size_t label, const Clusters& clusters) {
  const std::size_t labels = predictions.label_names.size();
  std::vector<float> scores;
  std::vector<std::uint8_t> truth;
  std::vector<std::uint32_t> units;
  for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
    const std::int8_t known = predictions.labels[i * labels + label];
    if (known == kUnknown) continue;
    scores.push_back(predictions.probabilities[i * labels + label]);
    truth.push_back(static_cast<std::uint8_t>(known));
    units.push_back(clusters.index[i]);
  }
  return RankedScores(scores, truth, units);
}

// Mean of the values whose label is defined on all images; NaN as soon as one of them is.
double mean_of_defined(std::span<const double> values, std::span<const LabelResult> labels) {
  double sum = 0.0;
  int count = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!labels[i].auroc.value) continue;
    sum += values[i];
    ++count;
  }
  return count == 0 ? kUndefined : sum / count;
}

void set_interval(Estimate& estimate, const Replicates& replicates, std::int64_t column, double level) {
  if (!estimate.value) return;
  std::vector<double> values = replicates.defined(column);
  estimate.replicates_left_out = std::ssize(replicates.values) / replicates.columns - std::ssize(values);
  estimate.interval = percentile_interval(std::move(values), level);
}

Value number_or_null(const std::optional<double>& value) { return value ? Value(*value) : Value(); }
Value low_or_null(const Estimate& estimate) { return estimate.interval ? Value(estimate.interval->low) : Value(); }
Value high_or_null(const Estimate& estimate) { return estimate.interval ? Value(estimate.interval->high) : Value(); }
}  // namespace

EvalTable evaluate(const Predictions& predictions, const BootstrapOptions& options) {
  check_predictions(predictions);
  check_options(options);
  const Clusters clusters = make_clusters(predictions.patients);
  EvalTable table{.images = predictions.image_count(), .patients = clusters.count, .bootstrap = options};

  std::vector<RankedScores> ranked;
  std::vector<double> values;
  for (std::size_t i = 0; i < predictions.label_names.size(); ++i) {
    const RankedScores& scores = ranked.emplace_back(rank_label(predictions, i, clusters));
    table.labels.push_back({.label = predictions.label_names[i],
                            .auroc = {.value = scores.auroc()},
                            .positives = scores.positives(),
                            .n = scores.positives() + scores.negatives()});
    values.push_back(table.labels.back().auroc.value.value_or(kUndefined));
    if (table.labels.back().auroc.value) ++table.labels_in_mean;
  }
  if (table.labels_in_mean == 0) return table;
  table.mean.value = mean_of_defined(values, table.labels);
  if (clusters.count < 2) return table;  // one patient says nothing about others

  const auto statistic = [&](std::span<const std::uint32_t> multiplicity, std::span<double> row) {
    for (std::size_t i = 0; i < ranked.size(); ++i) row[i] = ranked[i].auroc(multiplicity).value_or(kUndefined);
    row[ranked.size()] = mean_of_defined(row, table.labels);
  };
  const std::int64_t mean_column = std::ssize(table.labels);
  const Replicates replicates = bootstrap(clusters.count, mean_column + 1, statistic, options);
  for (std::int64_t i = 0; i < mean_column; ++i) {
    set_interval(table.labels[static_cast<std::size_t>(i)].auroc, replicates, i, options.level);
  }
  set_interval(table.mean, replicates, mean_column, options.level);
  return table;
}

Value to_value(const EvalTable& table) {
  Value auroc = Value::table();
  auroc.set("mean", number_or_null(table.mean.value));
  auroc.set("mean_low", low_or_null(table.mean));
  auroc.set("mean_high", high_or_null(table.mean));
  auroc.set("labels_in_mean", Value(table.labels_in_mean));
  auroc.set("labels_total", Value(std::int64_t{std::ssize(table.labels)}));
  Value::Table labels;
  for (const LabelResult& result : table.labels) {
    Value row = Value::table();
    row.set("auroc", number_or_null(result.auroc.value));
    row.set("low", low_or_null(result.auroc));
    row.set("high", high_or_null(result.auroc));
    row.set("positives", Value(result.positives));
    row.set("n", Value(result.n));
    labels.emplace_back(result.label, std::move(row));
  }
  auroc.set("labels", Value(std::move(labels)));
  Value root = Value::table();
  root.set("auroc", std::move(auroc));
  return root;
}

}  // namespace roentgen::eval
