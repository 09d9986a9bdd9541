// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts the table of an evaluation to a tree for JSON.
#include "eval/table.h"

namespace roentgen::eval {
namespace {

Value mean_value(const Estimate& mean, std::int64_t labels_in_mean) {
  Value value = Value::Table{{"mean", mean.value ? Value(*mean.value) : Value()},
                             {"mean_low", mean.interval ? Value(mean.interval->low) : Value()},
                             {"mean_high", mean.interval ? Value(mean.interval->high) : Value()}};
  if (!mean.no_interval.empty()) value.set("mean_no_interval", Value(mean.no_interval));
  value.set("labels_in_mean", Value(labels_in_mean));
  return value;
}

Value auroc_value(const EvalTable& table) {
  Value auroc = mean_value(table.mean, table.labels_in_mean);
  auroc.set("labels_total", Value(std::int64_t{std::ssize(table.labels)}));
  Value::Table labels;
  for (const LabelResult& result : table.labels) {
    Value row = estimate_value(result.auroc, "auroc");
    row.set("positives", Value(result.positives));
    row.set("n", Value(result.n));
    row.set("prevalence",
            result.n == 0 ? Value() : Value(static_cast<double>(result.positives) / static_cast<double>(result.n)));
    add_gaps(row, result.auroc);
    labels.emplace_back(result.label, std::move(row));
  }
  auroc.set("labels", Value(std::move(labels)));
  return auroc;
}

Value metric_value(const MetricColumn& column, const EvalTable& table) {
  Value value = mean_value(column.mean, column.labels_in_mean);
  Value::Table labels;
  for (std::size_t i = 0; i < column.labels.size(); ++i) {
    Value row = estimate_value(column.labels[i], "value");
    add_gaps(row, column.labels[i]);
    labels.emplace_back(table.labels[i].label, std::move(row));
  }
  value.set("labels", Value(std::move(labels)));
  return value;
}

}  // namespace

Value to_value(const EvalTable& table) {
  Value root = Value::table();
  root.set("auroc", auroc_value(table));
  root.set("bootstrap", Value::Table{{"method", "percentile bootstrap over patients"},
                                     {"level", table.bootstrap.level},
                                     {"replicates", table.bootstrap.replicates},
                                     {"seed", static_cast<std::int64_t>(table.bootstrap.seed)},
                                     {"patients", table.patients}});
  if (!table.metrics.empty()) {
    Value metrics = Value::table();
    for (const MetricColumn& column : table.metrics) {
      metrics.set(info_of(column.metric).key, metric_value(column, table));
    }
    root.set("metrics", std::move(metrics));
  }
  if (table.points) root.set("points", to_value(*table.points));
  if (!table.top.empty()) {
    Value top = Value::table();
    for (const TopAccuracy& one : table.top) {
      Value row = estimate_value(one.accuracy, "value");
      add_gaps(row, one.accuracy);
      top.set(std::to_string(one.k), std::move(row));
    }
    root.set("top", std::move(top));
  }
  return root;
}

}  // namespace roentgen::eval
