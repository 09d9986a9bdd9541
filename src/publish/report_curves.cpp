// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plots on the report page: ROC curves and reliability diagrams of each finding, and training curves. Two runs share
// each plot.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/plural.h"
#include "eval/calibration.h"
#include "eval/confusion.h"
#include "eval/label_scores.h"
#include "publish/report_parts.h"
#include "publish/run_tables.h"

namespace roentgen::publish {
namespace {

struct LabelPlots {
  std::string roc;
  std::string reliability;
};

Series roc_curve(const eval::ScoreCounts& counts) {
  Series curve;
  for (const eval::CurvePoint& point : eval::curve_points(counts)) {
    curve.points.push_back(
        {.x = 1.0 - eval::specificity(point.confusion).value, .y = eval::sensitivity(point.confusion).value});
  }
  return curve;
}

Series reliability_curve(const eval::ScoreCounts& counts) {
  Series bins{.has_marks = true};
  for (const eval::ReliabilityBin& bin : eval::reliability(counts)) {
    if (bin.n == 0) continue;
    bins.points.push_back(
        {.x = bin.mean_probability, .y = static_cast<double>(bin.positives) / static_cast<double>(bin.n)});
  }
  return bins;
}

// Draws a square plot. The figure stands in the title for one run, and in the legend for two runs.
std::string square_plot(const std::string& label, std::string_view figure, std::vector<Series> series, Axis x, Axis y) {
  const bool is_one = series.size() == 1;
  return svg_lines({.title = is_one ? fmt::format("{}: {}{}", label, figure, series[0].name) : label,
                    .x = std::move(x),
                    .y = std::move(y),
                    .series = std::move(series),
                    .has_diagonal = true,
                    .legend = Legend::LowerRight});
}

// Draws ROC curve and reliability diagram of one finding, for all runs.
LabelPlots plots_of(const ReportInput& input, std::size_t label, const eval::Clusters& clusters) {
  const std::string& name = input.runs[0].scored->predictions.label_names[label];
  std::vector<Series> curves, bins;
  std::string no_curve, no_bins;
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    if (!input.runs[i].scored) continue;
    const eval::RankedScores ranked = eval::rank_label(input.runs[i].scored->predictions, label, clusters);
    const eval::ScoreCounts counts = ranked.count();
    if (counts.has_both_classes()) {
      curves.push_back(roc_curve(counts));
      curves.back().name = with_letter(input, i, fmt::format("{:.3f}", *ranked.auroc()));
      curves.back().colour = i;
    } else {
      no_curve = name + ": no ROC curve, since only one class is there.";
    }
    const eval::Figure error = eval::expected_calibration_error(counts);
    if (error.reason.empty()) {
      bins.push_back(reliability_curve(counts));
      bins.back().name = with_letter(input, i, fmt::format("{:.3f}", error.value));
      bins.back().colour = i;
    } else {
      no_bins = name + ": no reliability diagram: " + std::string(error.reason);
    }
  }
  return {.roc = curves.empty()
                     ? absent(no_curve)
                     : square_plot(name, "", std::move(curves), {.title = "1 - specificity"}, {.title = "sensitivity"}),
          .reliability = bins.empty() ? absent(no_bins)
                                      : square_plot(name, "ECE ", std::move(bins), {.title = "mean probability"},
                                                    {.title = "share of positives"})};
}

std::string scored_text(const ReportInput& input) {
  const ScoredPredictions& first = *input.runs[0].scored;
  std::string text = "<p>" +
                     escaped(fmt::format("{}, {}, names' SHA-256 ", counted(first.predictions.image_count(), "image"),
                                         list_text(input, first.list_sha256))) +
                     code(first.list_sha256);
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    if (const auto& scored = input.runs[i].scored) {
      text += "; " + with_letter(input, i, "predictions ") + code(scored->predictions_sha256);
    }
  }
  text += ", labels " + code(first.labels_sha256) + ". The figure is the AUROC; the dashed line is chance.</p>\n";
  const std::string evaluated = evaluated_list(input.runs[0].evaluation);
  if (!evaluated.empty() && evaluated != first.list_sha256) {
    text += "<p class=\"notice\">These are other images than those of the results above.</p>\n";
  } else if (is_by_study(&input.runs[0].evaluation)) {
    text += "<p class=\"notice\">These curves are by image, the results above by study.</p>\n";
  }
  return text;
}

std::string plot_over_updates(std::string title, std::vector<Series> series) {
  if (series.size() == 1) series[0].name.clear();  // the title says it
  Axis x = axis_over("update", series, Direction::X);
  x.low = 0.0;
  Axis y = axis_over("", series, Direction::Y);
  return svg_lines({.title = std::move(title),
                    .x = std::move(x),
                    .y = std::move(y),
                    .series = std::move(series),
                    .legend = Legend::Below,
                    .width_px = 420.0,
                    .height_px = 250.0});
}

// Returns the series of all runs that have a non-empty series, each with the letter and colour of its run.
std::vector<Series> chosen(const ReportInput& input, const std::vector<TrainingCurves>& curves,
                           Series TrainingCurves::*which) {
  std::vector<Series> series;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    Series one = curves[i].*which;
    if (one.points.empty()) continue;
    one.name = with_letter(input, i, one.name);
    if (curves.size() > 1) one.colour = i;
    series.push_back(std::move(one));
  }
  return series;
}

}  // namespace

std::string curve_sections(const ReportInput& input) {
  if (!input.runs[0].scored) {
    return heading("curves", "ROC curves and reliability") +
           absent("No truth to hold predictions against: --labels CSV, with --preds FILE or the run's own preds.csv.");
  }
  for (const ReportRun& run : input.runs) {
    if (run.scored) eval::check_predictions(run.scored->predictions);
  }
  const eval::Predictions& predictions = input.runs[0].scored->predictions;
  const eval::Clusters clusters = eval::make_clusters(predictions.patients);
  std::string roc, reliability;
  for (std::size_t i = 0; i < predictions.label_names.size(); ++i) {
    const LabelPlots plots = plots_of(input, i, clusters);
    roc += plots.roc;
    reliability += plots.reliability;
  }
  std::string text = heading("curves", "ROC curves") + scored_text(input) + "<div class=\"plots\">\n" + roc +
                     "</div>\n" + heading("reliability", "Reliability");
  text += fmt::format(
      "<p>Of the images given a probability, how many are positive: {} bins of equal width, empty ones left out; ECE "
      "is the expected calibration error{}. On the dashed line probabilities come true.</p>\n",
      eval::kReliabilityBins, input.runs.size() > 1 ? ", beside the letter of each run" : "");
  return text + "<div class=\"plots\">\n" + reliability + "</div>\n";
}

std::string training_section(const ReportInput& input) {
  std::string text = heading("training", "Training");
  std::vector<TrainingCurves> curves;
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    curves.push_back(training_curves(input.runs[i].log));
    TrainingCurves& one = curves.back();
    if (one.update_loss.points.empty()) {
      text += absent(with_letter(input, i, "log.jsonl has no finished update."));
      continue;
    }
    one.update_loss.is_dashed = input.runs.size() > 1;
    text += fmt::format("<p>{}{}{}.</p>\n",
                        input.runs.size() < 2 ? ""
                        : i == 0              ? "A: "
                                              : "B: ",
                        counted(static_cast<std::int64_t>(one.learning_rate.points.back().x), "update"),
                        one.updates_a_point > 1
                            ? fmt::format("; a point of the training loss is the mean of {}", one.updates_a_point)
                            : "");
  }
  std::vector<Series> losses = chosen(input, curves, &TrainingCurves::update_loss);
  if (losses.empty()) return text;
  std::ranges::move(chosen(input, curves, &TrainingCurves::validation_loss), std::back_inserter(losses));
  const std::vector<Series> aurocs = chosen(input, curves, &TrainingCurves::validation_auroc);
  text += "<div class=\"plots curves\">\n" + plot_over_updates("Loss", std::move(losses));
  if (!aurocs.empty()) text += plot_over_updates("Validation AUROC, mean of findings", aurocs);
  text += plot_over_updates("Learning rate", chosen(input, curves, &TrainingCurves::learning_rate)) + "</div>\n";
  return aurocs.empty() ? text + absent("The log has no validation.") : text;
}

TrainingCurves training_curves(const std::vector<Value>& log) {
  constexpr std::size_t kMostPoints = 400;
  TrainingCurves curves{.update_loss = {.name = "training"},
                        .validation_loss = {.name = "validation", .has_marks = true},
                        .validation_auroc = {.name = "validation AUROC", .has_marks = true},
                        .learning_rate = {.name = "learning rate"}};
  std::vector<PlotPoint> updates;
  for (const Value& line : log) {
    const auto step = number_of(line.find("step"));
    if (!step) continue;
    const auto add = [&](std::string_view key, std::vector<PlotPoint>& points) {
      if (const auto value = number_of(line.find(key))) points.push_back({.x = *step, .y = *value});
    };
    if (text_of(line.find("kind")) == "step") {
      add("loss", updates);
      add("lr", curves.learning_rate.points);
    } else {
      add("val_loss", curves.validation_loss.points);
      add("val_auroc", curves.validation_auroc.points);
    }
  }
  const std::size_t width = (updates.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t begin = 0; begin < updates.size(); begin += width) {
    const std::size_t end = std::min(begin + width, updates.size());
    PlotPoint mean;
    for (std::size_t i = begin; i < end; ++i) mean = {.x = mean.x + updates[i].x, .y = mean.y + updates[i].y};
    const auto count = static_cast<double>(end - begin);
    curves.update_loss.points.push_back({.x = mean.x / count, .y = mean.y / count});
  }
  curves.updates_a_point = static_cast<std::int64_t>(std::max<std::size_t>(width, 1));
  return curves;
}

}  // namespace roentgen::publish
