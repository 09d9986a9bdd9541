// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "core/error.h"
#include "core/plural.h"
#include "eval/calibration.h"
#include "eval/confusion.h"
#include "eval/label_scores.h"
#include "io/environment.h"
#include "publish/run_tables.h"

namespace roentgen::publish {
namespace {

constexpr std::string_view kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;color:#222;background:#fff;max-width:1000px;margin:24px auto;"
    "padding:0 16px}h1{margin-bottom:4px}h2{margin-top:36px;border-bottom:1px solid #ddd;padding-bottom:4px}"
    "table{border-collapse:collapse;font-size:14px;margin:10px 0}td,th{padding:3px 12px 3px 0;text-align:left;"
    "border-bottom:1px solid #eee;vertical-align:top}td.n,th.n{text-align:right}"
    "code,pre{font:12.5px/1.4 ui-monospace,monospace}code{overflow-wrap:anywhere}"
    "pre{background:#f6f6f6;padding:12px;overflow-x:auto}"
    ".notice{border-left:4px solid #c2571a;padding:6px 12px;background:#fdf3ec}.absent{color:#666}"
    ".cases{display:flex;flex-wrap:wrap;gap:10px 14px}figure{margin:0;display:grid;grid-template-columns:150px 150px;"
    "gap:2px}figure img{width:150px;height:150px;object-fit:contain;background:#000}"
    "figcaption{grid-column:1/3;font-size:13px;overflow-wrap:anywhere}h3{margin:26px 0 0}h4{margin:10px 0 4px;"
    "font-weight:600;color:#555}.plots{display:flex;flex-wrap:wrap;gap:8px}svg{max-width:100%;height:auto;font-family:"
    "system-ui,sans-serif}";

// "1 image", "12 images".
std::string count_text(const Value* value, std::string_view one) {
  const std::optional<double> count = number_of(value);
  return count ? counted(static_cast<std::int64_t>(*count), one) : text_of(value) + " " + std::string(one) + "s";
}

std::string absent(std::string_view text) { return fmt::format("<p class=\"absent\">{}</p>\n", escaped(text)); }

std::string row(const std::vector<std::string>& cells, std::string_view tag = "td") {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += fmt::format("<{0}{1}>{2}</{0}>", tag, i == 0 ? "" : " class=\"n\"", cells[i]);
  }
  return text + "</tr>\n";
}

std::string fact(std::string_view name, std::string_view value) {
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), value);
}

std::string code(std::string_view text) { return "<code>" + escaped(text) + "</code>"; }

std::string model_name(const Value& recipe) {
  const std::string file = text_of(find(recipe, {"model", "file"})), name = text_of(find(recipe, {"model", "name"}));
  if (!file.empty()) return "a network of its own";
  return name.empty() ? "network" : name;
}

// The run's split with these very images; empty where none is, or two have names of one hash.
std::string split_of(const Value& data, const std::string& list_sha256) {
  std::string found;
  if (const Value* splits = find(data, {"splits"}); splits != nullptr && splits->is_table()) {
    for (const auto& [name, split] : splits->as_table()) {
      if (text_of(find(split, {"list_sha256"})) != list_sha256) continue;
      if (!found.empty()) return "";
      found = name;
    }
  }
  return found;
}

std::string list_text(const Value& data, const std::string& list_sha256) {
  const std::string split = split_of(data, list_sha256);
  if (split.empty()) return "a list that is no split of the run";
  std::string text = fmt::format("split \"{}\" of the run", split);
  if (split == "val") text += " (its best epoch was chosen on these very images)";
  if (split == "train") text += " (which it was trained on: these figures say how much was memorised)";
  return text;
}

// Of the images that the evaluation is of; empty when it does not say.
std::string evaluated_list(const Value& evaluation) {
  const std::string split = text_of(find(evaluation, {"split", "list_sha256"}));
  return split.empty() ? text_of(find(evaluation, {"predictions", "list_sha256"})) : split;
}

std::string header(const ReportInput& input) {
  std::string text = fmt::format("<h1>Training report: {}</h1>\n", escaped(model_name(input.recipe)));
  text +=
      "<p class=\"notice\"><strong>Research use, not a medical device.</strong> Not validated for any clinical "
      "purpose; "
      "a probability is not a diagnosis.</p>\n<table>\n";
  text += fact("page made by", escaped(fmt::format("roentgen {}, commit {}", io::program_version(),
                                                   std::string(io::program_commit()).substr(0, 12))));
  if (const Value* files = find(input.data, {"csv"}); files != nullptr && files->is_array()) {
    for (const Value& file : files->as_array()) {
      text += fact("labels", escaped(text_of(file.find("file"))) + ", SHA-256 " + code(text_of(file.find("sha256"))));
    }
  }
  if (const Value* splits = find(input.data, {"splits"}); splits != nullptr && splits->is_table()) {
    for (const auto& [name, split] : splits->as_table()) {
      text += fact("split " + name,
                   escaped(fmt::format("{} of {}, names' SHA-256 ", count_text(split.find("images"), "image"),
                                       count_text(split.find("patients"), "patient"))) +
                       code(text_of(split.find("list_sha256"))));
    }
  }
  text += "</table>\n";
  return input.data.is_null() ? text + absent("Data: the run folder has no data.json.") : text;
}

// Rows of the evaluation, the mean last; else those of validation.
std::vector<ForestRow> results(const ReportInput& input) {
  if (input.evaluation.is_null()) return input.validation;
  std::vector<ForestRow> rows;
  for (const auto& [label, figures] : find(input.evaluation, {"auroc", "labels"})->as_table()) {
    rows.push_back({.label = label,
                    .value = number_of(figures.find("auroc")),
                    .low = number_of(figures.find("low")),
                    .high = number_of(figures.find("high"))});
  }
  const Value& mean = *find(input.evaluation, {"auroc"});
  rows.push_back({.label = "Mean",
                  .value = number_of(mean.find("mean")),
                  .low = number_of(mean.find("mean_low")),
                  .high = number_of(mean.find("mean_high"))});
  return rows;
}

// Columns that the evaluation does not know are left out.
std::string result_table(const ReportInput& input, const std::vector<ForestRow>& rows) {
  const bool is_evaluated = !input.evaluation.is_null();
  const Value* auprc = find(input.evaluation, {"metrics", "auprc", "labels"});
  std::vector<std::string> head = {"finding", is_evaluated ? "AUROC (95% interval)" : "AUROC"};
  if (is_evaluated) head.insert(head.end(), {"positives", "images of known truth"});
  if (auprc != nullptr) head.emplace_back("AUPRC");
  std::string text = "<table>\n" + row(head, "th");
  for (const ForestRow& one : rows) {
    std::vector<std::string> cells = {escaped(one.label), estimate_text(one)};
    const Value* figures = find(input.evaluation, {"auroc", "labels", one.label});
    for (const char* key : {"positives", "n"}) {
      if (is_evaluated) cells.push_back(figures == nullptr ? "" : text_of(figures->find(key)));
    }
    if (auprc != nullptr) {
      const auto value = number_of(find(*auprc, {one.label, "value"}));
      cells.push_back(value ? fmt::format("{:.3f}", *value) : "");
    }
    text += row(cells);
  }
  return text + "</table>\n";
}

// Which findings have no interval, and why.
std::string without_interval(const Value& evaluation) {
  std::string text;
  const auto add = [&](std::string_view name, const Value* reason) {
    if (reason == nullptr || !reason->is_string()) return;
    text += fmt::format("{}{}: {}", text.empty() ? "No interval. " : "; ", name, reason->as_string());
  };
  const Value* auroc = find(evaluation, {"auroc"});
  if (auroc == nullptr) return text;
  for (const auto& [label, figures] : find(*auroc, {"labels"})->as_table()) add(label, figures.find("no_interval"));
  add("Mean", auroc->find("mean_no_interval"));
  return text.empty() ? text : "<p>" + escaped(text) + ".</p>\n";
}

std::string result_section(const ReportInput& input) {
  std::string text = "<h2>Results</h2>\n";
  const std::vector<ForestRow> rows = results(input);
  if (rows.empty()) return text + absent("No AUROCs: no --evaluation, and the run folder has no aucs.csv.");
  if (input.evaluation.is_null()) {
    text += absent(
        "AUROC of the run's own validation images at its best epoch, without intervals: the epoch was chosen on these "
        "very images. Figures of test images with intervals come with --evaluation, the JSON of roentgen eval.");
  } else {
    const std::string list = evaluated_list(input.evaluation);
    text += "<p>";
    if (!list.empty()) text += "Evaluated on " + escaped(list_text(input.data, list)) + ", " + code(list) + ". ";
    const Value* bootstrap = find(input.evaluation, {"bootstrap"});
    if (bootstrap != nullptr && bootstrap->is_table()) {
      text += escaped(fmt::format("Intervals: {}, {} over {}. ", text_of(bootstrap->find("method")),
                                  count_text(bootstrap->find("replicates"), "replicate"),
                                  count_text(bootstrap->find("patients"), "patient")));
    }
    text += "Figures of other lists of images cannot be compared with these.</p>\n";
  }
  return text + svg_forest("AUROC by finding", rows) + result_table(input, rows) + without_interval(input.evaluation);
}

struct LabelPlots {
  std::string roc;
  std::string reliability;
};

LabelPlots plots_of(const eval::Predictions& predictions, std::size_t label, const eval::Clusters& clusters) {
  const std::string& name = predictions.label_names[label];
  const eval::RankedScores ranked = eval::rank_label(predictions, label, clusters);
  const eval::ScoreCounts counts = ranked.count();
  LabelPlots plots;
  if (!counts.has_both_classes()) {
    plots.roc = absent(name + ": no ROC curve, since only one class is there.");
  } else {
    Series curve;
    for (const eval::CurvePoint& point : eval::curve_points(counts)) {
      curve.points.push_back(
          {.x = 1.0 - eval::specificity(point.confusion).value, .y = eval::sensitivity(point.confusion).value});
    }
    plots.roc = svg_lines({.title = fmt::format("{}: {:.3f}", name, *ranked.auroc()),
                           .x = {.title = "1 - specificity"},
                           .y = {.title = "sensitivity"},
                           .series = {curve},
                           .has_diagonal = true});
  }
  const eval::Figure error = eval::expected_calibration_error(counts);
  if (!error.reason.empty()) {
    plots.reliability = absent(name + ": no reliability diagram: " + std::string(error.reason));
    return plots;
  }
  Series bins{.has_marks = true};
  for (const eval::ReliabilityBin& bin : eval::reliability(counts)) {
    if (bin.n == 0) continue;
    bins.points.push_back(
        {.x = bin.mean_probability, .y = static_cast<double>(bin.positives) / static_cast<double>(bin.n)});
  }
  plots.reliability = svg_lines({.title = fmt::format("{}: ECE {:.3f}", name, error.value),
                                 .x = {.title = "mean probability"},
                                 .y = {.title = "share of positives"},
                                 .series = {bins},
                                 .has_diagonal = true});
  return plots;
}

std::string curve_sections(const ReportInput& input) {
  if (!input.scored) {
    return "<h2>ROC curves and reliability</h2>\n" +
           absent("No truth to hold predictions against: --labels CSV, with --preds FILE or the run's own preds.csv.");
  }
  const eval::Predictions& predictions = input.scored->predictions;
  eval::check_predictions(predictions);
  const eval::Clusters clusters = eval::make_clusters(predictions.patients);
  std::string roc, reliability;
  for (std::size_t i = 0; i < predictions.label_names.size(); ++i) {
    const LabelPlots plots = plots_of(predictions, i, clusters);
    roc += plots.roc;
    reliability += plots.reliability;
  }
  const ScoredPredictions& scored = *input.scored;
  std::string text = "<h2>ROC curves</h2>\n<p>" +
                     escaped(fmt::format("{}, {}, names' SHA-256 ", counted(predictions.image_count(), "image"),
                                         list_text(input.data, scored.list_sha256))) +
                     code(scored.list_sha256) + "; predictions " + code(scored.predictions_sha256) + ", labels " +
                     code(scored.labels_sha256) + ". The figure is the AUROC; the dashed line is chance.</p>\n";
  const std::string evaluated = evaluated_list(input.evaluation);
  if (!evaluated.empty() && evaluated != scored.list_sha256) {
    text += "<p class=\"notice\">These are other images than those of the results above.</p>\n";
  }
  text += "<div class=\"plots\">\n" + roc + "</div>\n<h2>Reliability</h2>\n";
  text += fmt::format(
      "<p>Of the images given a probability, how many are positive: {} bins of equal width, empty ones left out; ECE "
      "is "
      "the expected calibration error. On the dashed line probabilities come true.</p>\n",
      eval::kReliabilityBins);
  return text + "<div class=\"plots\">\n" + reliability + "</div>\n";
}

std::string plot_over_updates(std::string title, std::vector<Series> series) {
  Axis x = axis_over("update", series, Direction::X);
  x.low = 0.0;
  Axis y = axis_over("", series, Direction::Y);
  return svg_lines({.title = std::move(title),
                    .x = std::move(x),
                    .y = std::move(y),
                    .series = std::move(series),
                    .width_px = 480.0,
                    .height_px = 260.0});
}

std::string training_section(const std::vector<Value>& log) {
  std::string text = "<h2>Training</h2>\n";
  const TrainingCurves curves = training_curves(log);
  if (curves.update_loss.points.empty()) return text + absent("log.jsonl has no finished update.");
  text += fmt::format("<p>{}{}.</p>\n<div class=\"plots\">\n",
                      counted(static_cast<std::int64_t>(curves.learning_rate.points.back().x), "update"),
                      curves.updates_a_point > 1
                          ? fmt::format("; a point of the training loss is the mean of {}", curves.updates_a_point)
                          : "");
  text += plot_over_updates("Loss", curves.validation_loss.points.empty()
                                        ? std::vector{curves.update_loss}
                                        : std::vector{curves.update_loss, curves.validation_loss});
  if (!curves.validation_auroc.points.empty()) {
    text += plot_over_updates("Validation AUROC, mean of findings", {curves.validation_auroc});
  }
  text += plot_over_updates("Learning rate", {curves.learning_rate}) + "</div>\n";
  return curves.validation_auroc.points.empty() ? text + absent("The log has no validation.") : text;
}

std::string gallery_section(const ReportInput& input) {
  if (!input.gallery || !input.scored) return "<h2>Error gallery</h2>\n" + absent(input.no_gallery);
  return gallery_html(*input.gallery,
                      fmt::format("Of {}, {}", counted(input.scored->predictions.image_count(), "image"),
                                  list_text(input.data, input.scored->list_sha256)));
}

}  // namespace

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

std::string report_page(const ReportInput& input) {
  check_tables("publish.report", input.data, input.evaluation);
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Training report</title>\n";
  text += fmt::format("<style>{}</style></head><body>\n", kStyle);
  text += header(input) + result_section(input) + curve_sections(input) + training_section(input.log);
  text += gallery_section(input);
  text += "<h2>Recipe</h2>\n<pre>" + escaped(recipe_text(input.recipe)) + "</pre>\n";
  text +=
      "<h2>Limits</h2>\n<ul><li>Labels mined from reports are noisy; figures hold for images like those "
      "evaluated.</li>\n<li>View, sex, age, devices and hospital can be read from an X-ray: check subgroups "
      "before any use.</li></ul>\n";
  return text + "</body></html>\n";
}

std::string forest_figure(const ReportInput& input) {
  check_tables("publish.report", input.data, input.evaluation);
  const std::vector<ForestRow> rows = results(input);
  if (rows.empty()) {
    throw ConfigError(error_text("publish.report", "forest plot", "AUROCs", "no evaluation, and a run without aucs.csv",
                                 "--evaluation with the JSON of roentgen eval"));
  }
  return svg_file(svg_forest("AUROC by finding", rows));
}

}  // namespace roentgen::publish
