// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The report page of one run, or of two runs side by side: one self-contained HTML file. The command `report` reads the
// input files.
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

/// Predictions with truth, and a description of their origin.
struct ScoredPredictions {
  eval::Predictions predictions{};
  /// io::name_list_sha256 of the list of images.
  std::string list_sha256{};
  /// SHA-256 of the prediction file; below, of the label table.
  std::string predictions_sha256{};
  std::string labels_sha256{};
};

/// Data of one run on the page. The page says which data are missing.
struct ReportRun {
  /// Name of the run for people: the last part of its folder's path.
  std::string name{};
  /// Contents of recipe.toml.
  Value recipe{};
  /// Lines of log.jsonl, in order.
  std::vector<Value> log{};
  /// Contents of the run's data.json; null: the file does not exist.
  Value data{};
  /// Contents of the JSON file of `roentgen eval`; null: not given.
  Value evaluation{};
  /// Contents of aucs.csv: validation AUROCs of the best epoch, shown if there is no evaluation.
  std::vector<ForestRow> validation{};
  /// Predictions for ROC curves and reliability diagrams.
  std::optional<ScoredPredictions> scored{};
};

/// Contents of a page for one run, or for two runs A and B.
struct ReportInput {
  /// One or two runs. If two runs have evaluations or predictions, their images (in the same order), label names and
  /// true labels must be equal.
  std::vector<ReportRun> runs{};
  /// Comparison of run B with run A by their predictions; nullopt for one run, or without predictions and truth.
  std::optional<eval::Comparison> comparison{};
  /// Table {key: {"a", "b"}} of the recipe keys whose values differ between the runs; null for one run.
  Value recipe_differences{};
  /// Error gallery of the first run; nullopt: none.
  std::optional<Gallery> gallery{};
  /// One line with the reason why there is no gallery.
  std::string no_gallery{};
};

/// Loss, validation AUROC and learning rate by update. The training loss is averaged over neighbouring updates, to at
/// most 400 points. A series is empty if the log has no values for it.
struct TrainingCurves {
  Series update_loss{};
  Series validation_loss{};
  Series validation_auroc{};
  Series learning_rate{};
  /// Number of updates that each point of update_loss averages.
  std::int64_t updates_a_point = 1;
};
[[nodiscard]] TrainingCurves training_curves(const std::vector<Value>& log);

/// Returns the whole page: HTML with inline style and SVG, without scripts, and with a content security policy that
/// forbids loading other files. Names no patient and no folder, and no image unless the gallery names it. Throws
/// ConfigError if `data` or `evaluation` is malformed, and as gallery_html() does. Throws DataError as
/// eval::check_predictions() does.
[[nodiscard]] std::string report_page(const ReportInput& input);

/// Returns a forest plot of the page's AUROCs with intervals as a complete SVG file; two runs share one axis. Throws
/// ConfigError if there are no AUROCs.
[[nodiscard]] std::string forest_figure(const ReportInput& input);

}  // namespace roentgen::publish
