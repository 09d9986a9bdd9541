// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Formats the table of an evaluation as text for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "core/foreign_text.h"
#include "core/plural.h"
#include "eval/table.h"
#include "eval/text_columns.h"

namespace roentgen::eval {
namespace {
// Number of metrics in one table of details_text().
constexpr std::size_t kDetailColumns = 4;

std::string interval_text(const Estimate& estimate) {
  if (!estimate.interval) return "-";
  return fmt::format("{:.4f} - {:.4f}", estimate.interval->low, estimate.interval->high);
}

std::string value_text(const Estimate& estimate) {
  return estimate.value ? fmt::format("{:.4f}", *estimate.value) : "-";
}

// Formats a value with its interval: "0.412 (0.380-0.450)".
std::string short_text(const Estimate& estimate) {
  if (!estimate.value) return "-";
  if (!estimate.interval) return fmt::format("{:.3f}", *estimate.value);
  return fmt::format("{:.3f} ({:.3f}-{:.3f})", *estimate.value, estimate.interval->low, estimate.interval->high);
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

// Returns one line for each reason why values or intervals of a metric are missing. Omits findings with too few
// patients, which the table of AUROC lists.
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

std::string threshold_text(const OperatingPoints& points, const std::string& label) {
  const auto place = std::ranges::find(points.label_names, label) - points.label_names.begin();
  const std::optional<double>& threshold = points.thresholds.at(static_cast<std::size_t>(place));
  return threshold ? fmt::format("{:.4g}", *threshold) : "-";
}

std::string block_text(const EvalTable& table, const std::vector<const MetricColumn*>& chosen) {
  std::vector<TextRow> rows{{"finding"}};
  for (const LabelResult& result : table.labels) rows.push_back({result.label});
  rows.push_back({"mean"});
  if (info_of(chosen[0]->metric).needs == MetricNeeds::Threshold) {
    rows.front().emplace_back("threshold");
    for (std::size_t i = 0; i < table.labels.size(); ++i) {
      rows[i + 1].push_back(threshold_text(*table.points, table.labels[i].label));
    }
    rows.back().emplace_back();
  }
  std::string gaps;
  for (const MetricColumn* one : chosen) {
    rows.front().emplace_back(info_of(one->metric).title);
    for (std::size_t i = 0; i < one->labels.size(); ++i) rows[i + 1].push_back(short_text(one->labels[i]));
    rows.back().push_back(short_text(one->mean));
    gaps += gaps_text(table, *one);
  }
  return in_columns(std::move(rows), LastLine::Apart) + gaps;
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
  const MetricColumn* auprc = table.find(Metric::Auprc);
  std::vector<TextRow> rows{{"finding", "AUROC", interval_title}};
  if (auprc != nullptr) rows[0].insert(rows[0].end(), {"AUPRC", interval_title});
  rows[0].insert(rows[0].end(), {"prev.", "positives", "n"});
  const auto add = [&](const std::string& name, const Estimate& auroc, const Estimate* precision,
                       const TextRow& counts) {
    TextRow& row = rows.emplace_back(TextRow{name, value_text(auroc), interval_text(auroc)});
    if (precision != nullptr) row.insert(row.end(), {value_text(*precision), interval_text(*precision)});
    row.insert(row.end(), counts.begin(), counts.end());
  };
  for (std::size_t i = 0; i < table.labels.size(); ++i) {
    const LabelResult& result = table.labels[i];
    add(result.label, result.auroc, auprc == nullptr ? nullptr : &auprc->labels[i],
        {prevalence_text(result), with_commas(result.positives), with_commas(result.n)});
  }
  add(fmt::format("mean over {} of {}", table.labels_in_mean, table.labels.size()), table.mean,
      auprc == nullptr ? nullptr : &auprc->mean, {"", "", ""});
  std::string text = in_columns(std::move(rows), LastLine::Apart) + undefined_text(table);
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
