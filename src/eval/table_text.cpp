// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How the table of an evaluation looks on a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "core/foreign_text.h"
#include "core/plural.h"
#include "eval/table.h"
#include "eval/text_columns.h"

namespace roentgen::eval {
namespace {
// Columns beside the labels in one table of details_text().
constexpr std::size_t kDetailColumns = 4;

std::string interval_text(const Estimate& estimate) {
  if (!estimate.interval) return "-";
  return fmt::format("{:.4f} - {:.4f}", estimate.interval->low, estimate.interval->high);
}

std::string value_text(const Estimate& estimate) {
  return estimate.value ? fmt::format("{:.4f}", *estimate.value) : "-";
}

// "0.412 (0.380-0.450)"
std::string short_text(const Estimate& estimate) {
  if (!estimate.value) return "-";
  if (!estimate.interval) return fmt::format("{:.3f}", *estimate.value);
  return fmt::format("{:.3f} ({:.3f}-{:.3f})", *estimate.value, estimate.interval->low, estimate.interval->high);
}

TextColumn label_column(const EvalTable& table, std::string mean_name) {
  TextColumn column{.title = "finding", .cells = {}};
  for (const LabelResult& result : table.labels) column.cells.push_back(result.label);
  column.cells.push_back(std::move(mean_name));
  return column;
}

std::string prevalence_text(const LabelResult& result) {
  if (result.n == 0) return "-";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(result.positives) / static_cast<double>(result.n));
}

std::string method_text(const EvalTable& table) {
  if (table.bootstrap.replicates == 0) return "No intervals: 0 bootstrap replicates.\n";
  if (table.patients < 2) return "No intervals: they need two patients or more.\n";
  return fmt::format("{:g}% intervals: percentile bootstrap over {} patients, {} {}, seed {}.\n",
                     100.0 * table.bootstrap.level, with_commas(table.patients),
                     with_commas(table.bootstrap.replicates), plural(table.bootstrap.replicates, "replicate"),
                     table.bootstrap.seed);
}

std::string left_out_text(const std::string& name, const Estimate& estimate, const EvalTable& table) {
  if (estimate.replicates_left_out == 0 || !estimate.interval) return {};
  return fmt::format("{}: undefined in {} of {} {}, which are left out of its interval.\n", name,
                     with_commas(estimate.replicates_left_out), with_commas(table.bootstrap.replicates),
                     plural(table.bootstrap.replicates, "replicate"));
}

std::string undefined_text(const EvalTable& table) {
  std::string one_class, unknown;
  for (const LabelResult& result : table.labels) {
    if (result.auroc.value) continue;
    std::string& names = result.n == 0 ? unknown : one_class;
    names += (names.empty() ? "" : ", ") + terminal_text(result.label);
  }
  std::string text;
  if (!one_class.empty()) {
    text = "Undefined, because only one class is present, and left out of the mean: " + one_class + ".\n";
  }
  if (!unknown.empty()) text += "Not known of any image here, and left out of the mean: " + unknown + ".\n";
  return text;
}

// What the details lack, a line a metric and reason. Findings of too few patients are told once, below AUROC.
std::string gaps_text(const EvalTable& table, const MetricColumn& column) {
  ReasonList undefined, often_undefined;
  std::int64_t most_left_out = 0;
  const auto add = [&](const std::string& name, const Estimate& estimate) {
    if (estimate.interval) most_left_out = std::max(most_left_out, estimate.replicates_left_out);
    if (estimate.no_interval == kOftenUndefined) often_undefined.add(estimate.no_interval, name);
  };
  for (std::size_t i = 0; i < column.labels.size(); ++i) {
    add(table.labels[i].label, column.labels[i]);
    undefined.add(column.labels[i].reason, table.labels[i].label);
  }
  add("mean", column.mean);
  const std::string_view title = info_of(column.metric).title;
  std::string text = undefined.lines(fmt::format("{} undefined", title));
  text += often_undefined.lines(fmt::format("{}: no interval", title));
  if (most_left_out > 0) {
    text += fmt::format("{}: up to {} of {} {}, where undefined, are left out of an interval.\n", title,
                        with_commas(most_left_out), with_commas(table.bootstrap.replicates),
                        plural(table.bootstrap.replicates, "replicate"));
  }
  return text;
}

TextColumn threshold_column(const EvalTable& table) {
  TextColumn column{.title = "threshold", .cells = {}};
  for (const LabelResult& result : table.labels) {
    const auto& names = table.points->label_names;
    const auto found = std::ranges::find(names, result.label) - names.begin();
    const std::optional<double>& threshold = table.points->thresholds.at(static_cast<std::size_t>(found));
    column.cells.push_back(threshold ? fmt::format("{:.4g}", *threshold) : "-");
  }
  column.cells.emplace_back();
  return column;
}

std::string block_text(const EvalTable& table, const std::vector<const MetricColumn*>& chosen) {
  std::vector<TextColumn> columns{label_column(table, "mean")};
  std::string gaps;
  if (info_of(chosen[0]->metric).needs == MetricNeeds::Threshold) columns.push_back(threshold_column(table));
  for (const MetricColumn* one : chosen) {
    TextColumn& column = columns.emplace_back();
    column.title = info_of(one->metric).title;
    for (const Estimate& estimate : one->labels) column.cells.push_back(short_text(estimate));
    column.cells.push_back(short_text(one->mean));
    gaps += gaps_text(table, *one);
  }
  return side_by_side(columns, LastLine::Apart) + gaps;
}

std::string points_text(const OperatingPoints& points) {
  return fmt::format(
      "Thresholds: from validation ({} {} of {} {}) by {}; a score at or above is called positive.\n"
      "Scaled: logits divided by {}. Intervals hold thresholds and temperature fixed.\n",
      with_commas(points.images), plural(points.images, "image"), with_commas(points.patients),
      plural(points.patients, "patient"), points.rule == ThresholdRule::MaxF1 ? "largest F1" : "largest Youden index",
      points.temperature ? fmt::format("the temperature {:.4g}, from validation", *points.temperature)
                         : "nothing, since validation has no best temperature");
}
}  // namespace

std::string to_text(const EvalTable& table) {
  const std::string interval_title = fmt::format("{:g}% interval", 100.0 * table.bootstrap.level);
  std::vector<TextColumn> columns{
      label_column(table, fmt::format("mean over {} of {}", table.labels_in_mean, table.labels.size()))};
  TextColumn auroc{.title = "AUROC", .cells = {}};
  TextColumn interval{.title = interval_title, .cells = {}};
  TextColumn prevalence{.title = "prev.", .cells = {}};
  TextColumn positives{.title = "positives", .cells = {}};
  TextColumn n{.title = "n", .cells = {}};
  for (const LabelResult& result : table.labels) {
    auroc.cells.push_back(value_text(result.auroc));
    interval.cells.push_back(interval_text(result.auroc));
    prevalence.cells.push_back(prevalence_text(result));
    positives.cells.push_back(with_commas(result.positives));
    n.cells.push_back(with_commas(result.n));
  }
  auroc.cells.push_back(value_text(table.mean));
  interval.cells.push_back(interval_text(table.mean));
  for (TextColumn* column : {&prevalence, &positives, &n}) column->cells.emplace_back();
  columns.insert(columns.end(), {std::move(auroc), std::move(interval)});
  if (const MetricColumn* auprc = table.find(Metric::Auprc)) {
    TextColumn value{.title = "AUPRC", .cells = {}};
    TextColumn its_interval{.title = interval_title, .cells = {}};
    for (const Estimate& estimate : auprc->labels) {
      value.cells.push_back(value_text(estimate));
      its_interval.cells.push_back(interval_text(estimate));
    }
    value.cells.push_back(value_text(auprc->mean));
    its_interval.cells.push_back(interval_text(auprc->mean));
    columns.insert(columns.end(), {std::move(value), std::move(its_interval)});
  }
  columns.insert(columns.end(), {std::move(prevalence), std::move(positives), std::move(n)});

  std::string text = side_by_side(columns, LastLine::Apart) + undefined_text(table);
  for (const TopAccuracy& top : table.top) {
    text += fmt::format("top-{} accuracy {}\n", top.k, short_text(top.accuracy));
  }
  text += method_text(table);
  for (const LabelResult& result : table.labels)
    text += left_out_text(terminal_text(result.label), result.auroc, table);
  text += left_out_text("mean", table.mean, table);
  ReasonList none;
  for (const LabelResult& result : table.labels) none.add(result.auroc.no_interval, result.label);
  none.add(table.mean.no_interval, "mean");
  return text + none.lines("No interval");
}

std::string details_text(const EvalTable& table) {
  std::string text;
  for (const MetricNeeds needs : {MetricNeeds::Counts, MetricNeeds::Threshold, MetricNeeds::Temperature}) {
    std::vector<const MetricColumn*> chosen;
    const auto flush = [&] {
      if (!chosen.empty()) text += "\n" + block_text(table, chosen);
      chosen.clear();
    };
    for (const MetricColumn& column : table.metrics) {
      if (column.metric == Metric::Auprc || info_of(column.metric).needs != needs) continue;
      chosen.push_back(&column);
      if (chosen.size() == (needs == MetricNeeds::Threshold ? kDetailColumns - 1 : kDetailColumns)) flush();
    }
    flush();
  }
  if (text.empty()) return text;
  text += "ECE: 15 bins of equal width.\n";
  if (table.points) text += points_text(*table.points);
  return text;
}

}  // namespace roentgen::eval
