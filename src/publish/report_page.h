// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The report page of a run, or of two side by side: one self-contained HTML file. The command finds the input files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/value.h"
#include "eval/comparison.h"
#include "eval/predictions.h"
#include "publish/gallery.h"
#include "publish/svg_plot.h"

namespace roentgen::publish {

/// Predictions and truth, and a description of their origin.
struct ScoredPredictions {
  eval::Predictions predictions{};
  /// io::name_list_sha256 of the images.
  std::string list_sha256{};
  /// Hashes of the file of predictions and of the label table.
  std::string predictions_sha256{};
  std::string labels_sha256{};
};

/// One run of a page. The page names missing parts.
struct ReportRun {
  /// Name for people: the last part of the folder's path.
  std::string name{};
  /// recipe.toml.
  Value recipe{};
  /// Lines of log.jsonl, in order.
  std::vector<Value> log{};
  /// data.json; null = absent.
  Value data{};
  /// Content of the file that `roentgen eval --json` wrote; null = absent.
  Value evaluation{};
  /// aucs.csv: AUROCs of validation by the best epoch, shown when there is no evaluation.
  std::vector<ForestRow> validation{};
  /// Predictions for ROC curves and reliability diagrams.
  std::optional<ScoredPredictions> scored{};
};

/// Contents of a page: one run, or A and B.
struct ReportInput {
  /// One run or two. Two with evaluations, or with predictions, have the same images in the same order, labels and
  /// truth.
  std::vector<ReportRun> runs{};
  /// Comparison of B with A on the predictions of both; nullopt for one run, or without predictions and truth.
  std::optional<eval::Comparison> comparison{};
  /// {key: {"a", "b"}} of the recipes' keys that differ; null for one run.
  Value recipe_differences{};
  /// Error gallery of the first run; nullopt where there is none.
  std::optional<Gallery> gallery{};
  /// One line with the reason for a missing gallery.
  std::string no_gallery{};
};

/// Loss, validation AUROC and learning rate by update. Losses of updates are means of neighbours, 400 points at most;
/// empty series where the log has none.
struct TrainingCurves {
  Series update_loss{};
  Series validation_loss{};
  Series validation_auroc{};
  Series learning_rate{};
  /// Number of updates that each point of update_loss averages.
  std::int64_t updates_a_point = 1;
};
[[nodiscard]] TrainingCurves training_curves(const std::vector<Value>& log);

/// The whole page: HTML with inline style and SVG, without scripts, and with a content security policy that forbids
/// loading anything. Names no patient, no folder, and no image but those that the gallery names. ConfigError where
/// `data` or `evaluation` is no such table, and as gallery_html(); DataError as eval::check_predictions().
[[nodiscard]] std::string report_page(const ReportInput& input);

/// AUROCs of the page with intervals as a forest plot, both runs on one axis, as a complete SVG file. ConfigError where
/// there are none.
[[nodiscard]] std::string forest_figure(const ReportInput& input);

}  // namespace roentgen::publish
