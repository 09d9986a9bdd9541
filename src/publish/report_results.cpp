// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Results on the report page: AUROCs as a forest plot and a table, differences of two runs, and thresholds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "eval/text_columns.h"
#include "publish/report_parts.h"
#include "publish/run_tables.h"

namespace roentgen::publish {
namespace {

using eval::with_commas;
using Cells = std::vector<std::string>;

constexpr std::string_view kMean = "Mean";

ForestRow forest_row(std::string label, const eval::Estimate& estimate) {
  ForestRow row{.label = std::move(label), .value = estimate.value};
  if (estimate.interval) row = {row.label, row.value, estimate.interval->low, estimate.interval->high};
  return row;
}

std::vector<ForestRow> evaluated_rows(const Value& evaluation) {
  std::vector<ForestRow> rows;
  for (const auto& [label, figures] : find(evaluation, {"auroc", "labels"})->as_table()) {
    rows.push_back({.label = label,
                    .value = number_of(figures.find("auroc")),
                    .low = number_of(figures.find("low")),
                    .high = number_of(figures.find("high"))});
  }
  const Value& mean = *find(evaluation, {"auroc"});
  rows.push_back({.label = std::string(kMean),
                  .value = number_of(mean.find("mean")),
                  .low = number_of(mean.find("mean_low")),
                  .high = number_of(mean.find("mean_high"))});
  return rows;
}

// Returns the AUROC rows of a run: from the evaluation, or else from the comparison, or else from validation. Except
// for validation, the last row is the mean.
std::vector<ForestRow> rows_of(const ReportInput& input, std::size_t run) {
  const ReportRun& one = input.runs[run];
  if (!one.evaluation.is_null()) return evaluated_rows(one.evaluation);
  if (!input.comparison) return one.validation;
  std::vector<ForestRow> rows;
  const auto add = [&](std::string label, const eval::Difference& difference) {
    rows.push_back(forest_row(std::move(label), run == 0 ? difference.a : difference.b));
  };
  for (const eval::Difference& difference : input.comparison->labels) add(difference.label, difference);
  add(std::string(kMean), input.comparison->mean);
  return rows;
}

// Returns one series for each run, with the rows of the second run in the order of the first run.
std::vector<ForestSeries> results(const ReportInput& input) {
  std::vector<ForestSeries> series;
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    std::vector<ForestRow> rows = rows_of(input, i);
    if (i > 0) {
      std::vector<ForestRow> ordered;
      for (const ForestRow& first : series.front().rows) {
        const auto found = std::ranges::find(rows, first.label, &ForestRow::label);
        ordered.push_back(found == rows.end() ? ForestRow{.label = first.label} : std::move(*found));
      }
      rows = std::move(ordered);
    }
    series.push_back({.name = run_title(input, i), .rows = std::move(rows)});
  }
  return series;
}

const eval::Difference* difference_of(const ReportInput& input, const std::string& label) {
  if (!input.comparison) return nullptr;
  if (label == kMean) return &input.comparison->mean;
  const auto found = std::ranges::find(input.comparison->labels, label, &eval::Difference::label);
  return found == input.comparison->labels.end() ? nullptr : &*found;
}

Cells difference_cells(const eval::Difference* difference) {
  if (difference == nullptr || !difference->delta.value) return {"", ""};
  std::string text = fmt::format("{:+.3f}", *difference->delta.value);
  if (const auto& interval = difference->delta.interval) {
    text += fmt::format(" ({:+.3f} to {:+.3f})", interval->low, interval->high);
  }
  return {text, difference->p ? fmt::format("{:.4f}", *difference->p) : ""};
}

// Returns the table of results, with only the columns that the evaluations contain.
std::string result_table(const ReportInput& input, const std::vector<ForestSeries>& series) {
  const bool is_evaluated = !input.runs[0].evaluation.is_null();
  const auto has_auprc = [](const ReportRun& run) {
    return find(run.evaluation, {"metrics", "auprc", "labels"}) != nullptr;
  };
  const std::string form = is_evaluated || input.comparison ? "AUROC (95% interval)" : "AUROC";
  Cells head = {"finding"};
  for (std::size_t k = 0; k < series.size(); ++k) head.push_back(with_letter(input, k, form));
  if (input.comparison) head.insert(head.end(), {"B - A (95% interval)", "p"});
  if (is_evaluated) {
    head.insert(head.end(), {"positives", is_by_study(&input.runs[0].evaluation) ? "known studies" : "known images"});
  }
  for (std::size_t k = 0; k < series.size(); ++k) {
    if (has_auprc(input.runs[k])) head.push_back(with_letter(input, k, "AUPRC"));
  }
  std::vector<Cells> rows;
  for (std::size_t i = 0; i < series.front().rows.size(); ++i) {
    const std::string& label = series.front().rows[i].label;
    Cells& cells = rows.emplace_back(Cells{escaped(label)});
    for (const ForestSeries& one : series) cells.push_back(estimate_text(one.rows[i]));
    if (input.comparison) {
      for (std::string& cell : difference_cells(difference_of(input, label))) cells.push_back(std::move(cell));
    }
    const Value* figures = find(input.runs[0].evaluation, {"auroc", "labels", label});
    for (const char* key : {"positives", "n"}) {
      if (is_evaluated) cells.push_back(figures == nullptr ? "" : text_of(figures->find(key)));
    }
    for (const ReportRun& run : input.runs) {
      if (!has_auprc(run)) continue;
      const auto value = number_of(find(run.evaluation, {"metrics", "auprc", "labels", label, "value"}));
      cells.push_back(value ? fmt::format("{:.3f}", *value) : "");
    }
  }
  return number_table("AUROC by finding", head, rows);
}

// Returns a line that names the findings whose difference has no value or no interval, with the reason.
std::string without_difference(const ReportInput& input) {
  if (!input.comparison) return "";
  const eval::Comparison& comparison = *input.comparison;
  if (comparison.patients < 2) return "<p>B - A: no interval and no p. They need two patients or more.</p>\n";
  eval::ReasonList none, undefined;
  const auto add = [&](const std::string& name, const eval::Difference& difference) {
    none.add(difference.delta.no_interval, name);
    undefined.add(difference.delta.reason, name);
  };
  for (const eval::Difference& difference : comparison.labels) add(difference.label, difference);
  add(std::string(kMean), comparison.mean);
  const std::string text = undefined.lines("B - A: no value") + none.lines("B - A: no interval and no p");
  return text.empty() ? "" : "<p>" + escaped(text) + "</p>\n";
}

// Returns a line that names the findings without an interval, with the reason.
std::string without_interval(const Value& evaluation, std::string_view letter) {
  const Value* auroc = find(evaluation, {"auroc"});
  if (auroc == nullptr) return "";
  eval::ReasonList reasons;
  const auto add = [&reasons](const std::string& name, const Value* reason) {
    if (reason != nullptr && reason->is_string()) reasons.add(reason->as_string(), name);
  };
  for (const auto& [label, figures] : find(*auroc, {"labels"})->as_table()) add(label, figures.find("no_interval"));
  add(std::string(kMean), auroc->find("mean_no_interval"));
  const std::string text = reasons.lines(letter.empty() ? "No interval" : std::string(letter) + ": no interval");
  return text.empty() ? text : "<p>" + escaped(text) + "</p>\n";
}

std::string evaluation_text(const ReportInput& input) {
  const Value& evaluation = input.runs[0].evaluation;
  const std::string list = evaluated_list(evaluation);
  std::string text = "<p>";
  if (!list.empty()) text += "Evaluated on " + escaped(list_text(input, list)) + ", " + code(list) + ". ";
  if (is_by_study(&evaluation)) text += escaped(fmt::format("One row a {}. ", text_of(evaluation.find("unit"))));
  const Value* bootstrap = find(evaluation, {"bootstrap"});
  if (bootstrap != nullptr && bootstrap->is_table()) {
    text += escaped(fmt::format("Intervals: {}, {} over {}. ", text_of(bootstrap->find("method")),
                                count_text(bootstrap->find("replicates"), "replicate"),
                                count_text(bootstrap->find("patients"), "patient")));
  }
  return text + "Figures of other lists of images cannot be compared with these.</p>\n";
}

std::string source_text(const ReportInput& input) {
  if (!input.runs[0].evaluation.is_null()) return evaluation_text(input);
  if (!input.comparison) {
    return absent(
        "AUROC of the run's own validation images at its best epoch, without intervals: the epoch was chosen on these "
        "very images. Figures of test images with intervals come with --evaluation, the JSON of roentgen eval.");
  }
  const std::string& list = input.runs[0].scored->list_sha256;
  return "<p>AUROC of the predictions on " + escaped(list_text(input, list)) + ", " + code(list) + ".</p>\n";
}

std::string difference_text(const ReportInput& input) {
  if (input.runs.size() < 2) return "";
  if (!input.comparison) {
    return absent(
        "No differences: they are paired by patient and need the predictions of both runs with --labels PATH "
        "(--preds and --beside-preds, or the runs' own preds.csv).");
  }
  const eval::Comparison& comparison = *input.comparison;
  const auto tested = std::ranges::count_if(comparison.labels, [](const auto& row) { return row.p.has_value(); });
  return "<p>" +
         escaped(fmt::format(
             "Differences are B - A: paired percentile bootstrap over {}, {}, seed {}; both runs are scored on the "
             "same resamples. They cover patients, not seeds: another seed gives other weights. p is two-sided and not "
             "corrected for {}.",
             counted(comparison.patients, "patient"), counted(comparison.bootstrap.replicates, "replicate"),
             comparison.bootstrap.seed, counted(tested, "finding"))) +
         "</p>\n";
}

// Returns the value of a metric at the threshold, such as "0.812 (0.790 to 0.835)".
std::string metric_text(const Value& evaluation, std::string_view metric, const std::string& label) {
  const Value* figure = find(evaluation, {"metrics", metric, "labels", label});
  if (figure == nullptr) return "";
  const ForestRow row{.value = number_of(figure->find("value")),
                      .low = number_of(figure->find("low")),
                      .high = number_of(figure->find("high"))};
  return row.value ? estimate_text(row) : "-";
}

// Returns the confusion matrix of a label, recomputed from sensitivity and similar rates. Empty if a rate is undefined.
Cells call_cells(const Value& evaluation, const std::string& label) {
  const auto rate = [&](std::string_view metric) {
    return number_of(find(evaluation, {"metrics", metric, "labels", label, "value"}));
  };
  const auto count = [&](std::string_view key) { return number_of(find(evaluation, {"auroc", "labels", label, key})); };
  const auto sensitivity = rate("sensitivity"), specificity = rate("specificity");
  const auto positives = count("positives"), n = count("n");
  if (!sensitivity || !specificity || !positives || !n) return Cells(4);
  const double negatives = *n - *positives;
  const double true_positives = std::round(*sensitivity * *positives);
  const double true_negatives = std::round(*specificity * negatives);
  Cells cells;
  for (const double one : {true_positives, negatives - true_negatives, *positives - true_positives, true_negatives}) {
    cells.push_back(with_commas(static_cast<std::int64_t>(one)));
  }
  return cells;
}

std::string fitted_text(const Value& points) {
  const bool is_study = is_by_study(&points);
  return fmt::format(
      "Chosen by {} on {}, not on the evaluated {}.",
      text_of(points.find("rule")) == "youden" ? "sensitivity + specificity - 1" : "F1",
      count_text(find(points, {"fitted_on", "images"}), is_study ? "validation study" : "validation image",
                 is_study ? "validation studies" : ""),
      is_study ? "studies" : "images");
}

std::string threshold_table(const ReportInput& input, std::size_t run) {
  const Value& evaluation = input.runs[run].evaluation;
  const Value* points = find(evaluation, {"points"});
  const Value* thresholds = points == nullptr ? nullptr : points->find("thresholds");
  const std::string title = run_title(input, run);
  const std::string above = title.empty() ? "" : "<h3>" + escaped(title) + "</h3>\n";
  if (thresholds == nullptr || !thresholds->is_table()) {
    return "<div>" + above +
           absent(
               evaluation.is_null()
                   ? "No thresholds: they come with --evaluation, the JSON of roentgen eval."
                   : "No thresholds: roentgen eval --metrics all chooses them on the validation images of its data.");
  }
  std::vector<Cells> rows;
  for (const auto& [label, threshold] : thresholds->as_table()) {
    const auto value = number_of(&threshold);
    Cells& cells = rows.emplace_back(Cells{escaped(label), value ? fmt::format("{:.3f}", *value) : "-"});
    for (const char* metric : {"sensitivity", "specificity", "ppv", "npv"}) {
      cells.push_back(metric_text(evaluation, metric, label));
    }
    for (std::string& cell : call_cells(evaluation, label)) cells.push_back(std::move(cell));
  }
  const Cells head = {"finding", "threshold", "sensitivity", "specificity", "PPV", "NPV", "TP", "FP", "FN", "TN"};
  return "<div>" + above + "<p>" + escaped(fitted_text(*points)) + "</p>\n" +
         number_table(title + " thresholds", head, rows);
}

}  // namespace

std::string result_section(const ReportInput& input) {
  std::string text = heading("results", "Results");
  const std::vector<ForestSeries> series = results(input);
  if (series.front().rows.empty()) {
    return text + absent("No AUROCs: no --evaluation, and the run folder has no aucs.csv.");
  }
  constexpr std::string_view kTitle = "AUROC by finding";
  text += source_text(input) + difference_text(input);
  text += "<div class=\"sides\"><div class=\"forest\"><div class=\"wide\">\n" + svg_forest(kTitle, series) +
          "</div><div class=\"narrow\">\n" + svg_forest(kTitle, series, ForestForm::Narrow) + "</div></div>\n" +
          result_table(input, series) + "</div>\n";
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    constexpr std::array<std::string_view, 2> kLetters{"A", "B"};
    text += without_interval(input.runs[i].evaluation, input.runs.size() < 2 ? "" : kLetters.at(i));
  }
  return text + without_difference(input);
}

std::string threshold_section(const ReportInput& input) {
  std::string text = heading("thresholds", "Thresholds");
  text += fmt::format(
      "<p>A finding is called positive where its probability is at or above the threshold. TP, FP, FN and TN count "
      "true and false calls on the evaluated {}; in brackets 95% intervals.</p>\n",
      is_by_study(&input.runs[0].evaluation) ? "studies" : "images");
  text += "<div class=\"sides\">\n";
  for (std::size_t i = 0; i < input.runs.size(); ++i) text += threshold_table(input, i) + "</div>\n";
  return text + "</div>\n";
}

std::string forest_figure(const ReportInput& input) {
  for (const ReportRun& run : input.runs) check_tables("publish.report", run.data, run.evaluation);
  const std::vector<ForestSeries> series = results(input);
  if (series.front().rows.empty()) {
    throw ConfigError(error_text("publish.report", "forest plot", "AUROCs",
                                 "neither --evaluation nor aucs.csv of the run",
                                 "--evaluation with the JSON file of roentgen eval"));
  }
  return svg_file(svg_forest("AUROC by finding", series));
}

}  // namespace roentgen::publish
