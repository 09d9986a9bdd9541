// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/eval_options.h"

#include <algorithm>
#include <utility>

#include "cli/arguments.h"
#include "core/comma_list.h"
#include "data/transform/test_views.h"
#include "eval/confusion.h"
#include "eval/subgroup.h"

namespace roentgen::cli {
namespace {

// Options with the same text share one line of the help.
constexpr const char* kPredictionsDoc = "csv of probabilities; csv of AUROCs; Caffe log to append to";
constexpr const char* kPointsDoc = "file of thresholds and temperature, to read or to write";
constexpr const char* kCurvesDoc = "write ROC and PR points, or the reliability diagram, to this csv";
constexpr const char* kBootstrapDoc = "bootstrap replicates (default 1000; 0: no intervals), seed (default 0)";

}  // namespace

std::vector<Option> EvalOptions::list() {
  const std::vector<Option> own{
      {.name = "--checkpoint",
       .target = &checkpoint,
       .doc = "checkpoint file, such as run/checkpoints/best.safetensors"},
      {.name = "--data",
       .target = &data,
       .doc = "data folder; for a model of several data sets all, or some as NAME=DIR",
       .value_name = "DIR"},
      {.name = "--split", .target = &split, .doc = "images to use: train, val or test"},
      {.name = "--list",
       .target = &image_list,
       .doc = "images to use instead of --split: official (NIH's test list) or a file"},
      {.name = "--set",
       .target = &overrides,
       .doc = "data.key=value that overrides how the images or --labels are read"},
      {.name = "--predictions",
       .target = &predictions,
       .doc = "csv of predictions instead of --checkpoint; several files are averaged",
       .value_name = "FILE"},
      {.name = "--labels",
       .target = &labels,
       .doc = "with --predictions: data folder or label table with the true labels",
       .value_name = "PATH"},
      {.name = "--validation",
       .target = &validation,
       .doc = "with --predictions: csv for the validation split; several are averaged",
       .value_name = "FILE"},
      {.name = "--tta", .target = &views, .doc = "test-time augmentation: " + data::test_view_names()},
      {.name = "--metrics", .target = &metrics, .doc = "metrics to compute: default (AUROC, AUPRC) or all"},
      {.name = "--threshold",
       .target = &rule,
       .doc = "choose thresholds on validation data by this criterion: f1 or youden"},
      {.name = "--points", .target = &points, .doc = kPointsDoc},
      {.name = "--save-points", .target = &save_points, .doc = kPointsDoc, .is_output = true},
      {.name = "--by", .target = &by, .doc = "subgroups: view,sex,age,source; or study: evaluate studies, not images"},
      {.name = "--aggregate",
       .target = &aggregate,
       .doc = "with --by study: max (default) or mean over a study's images"},
      {.name = "--preds", .target = &save_predictions, .doc = kPredictionsDoc, .is_output = true},
      {.name = "--aucs", .target = &save_aurocs, .doc = kPredictionsDoc, .is_output = true},
      {.name = "--caffe-log", .target = &caffe_log, .doc = kPredictionsDoc, .is_output = true},
      {.name = "--curves", .target = &save_curves, .doc = kCurvesDoc, .is_output = true},
      {.name = "--reliability", .target = &save_reliability, .doc = kCurvesDoc, .is_output = true},
  };
  const std::vector<Option> rest{
      {.name = "--replicates", .target = &replicates, .doc = kBootstrapDoc, .range = {0, 1e6}},
      {.name = "--seed", .target = &seed, .doc = kBootstrapDoc, .range = {.low = 0}},
      {.name = "--allow-overlap",
       .target = &allows_overlap,
       .doc = "evaluate even if test patients were in the training set"},
      {.name = "--partial", .target = &is_partial, .doc = "load only the checkpoint tensors that match the model"}};
  return joined({own, inference.list(), rest, ranks.options()});
}

std::vector<std::string> EvalOptions::groups() const {
  std::vector<std::string> parts;
  for (const std::string_view part : comma_parts(by)) {
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

bool EvalOptions::has_group(std::string_view attribute) const {
  const std::vector<std::string> attributes = groups();
  return std::ranges::find(attributes, attribute) != attributes.end();
}

bool EvalOptions::wants_points() const {
  return points.empty() &&
         (metrics == "all" || !validation.empty() || !save_points.empty() || !save_reliability.empty());
}

void EvalOptions::check() const {
  if (predictions.empty()) {
    if (checkpoint.empty()) refuse_missing("eval", "--checkpoint FILE or --predictions FILE");
    if (data.empty()) refuse_missing("eval", "--data DIR");
    if (!labels.empty()) refuse_missing("eval --labels", "--predictions FILE");
    if (!validation.empty()) refuse_missing("eval --validation", "--predictions FILE");
  } else {
    if (!checkpoint.empty()) refuse_arguments("eval", "a checkpoint or predictions", "both");
    if (labels.empty()) refuse_missing("eval --predictions", "--labels PATH");
    if (!ranks.asked_ranks.empty()) {
      refuse_arguments("eval --ranks", "also --checkpoint FILE", "predictions from a file");
    }
    if (views != "none") refuse_arguments("eval --tta", "also --checkpoint FILE", "predictions from a file");
    if (!caffe_log.empty()) {
      refuse_arguments("eval --caffe-log", "also --checkpoint FILE, which contains the number of updates",
                       "predictions from a file");
    }
  }
  if (metrics != "default" && metrics != "all")
    refuse_arguments("eval --metrics", "default or all", metrics, "one of default, all");
  if (!points.empty() && !validation.empty()) refuse_arguments("eval", "--points or --validation", "both");
  if (!points.empty() && !save_points.empty()) refuse_arguments("eval", "--points or --save-points", "both");
  for (const std::string& attribute : groups()) {
    const bool is_known = attribute == "view" || attribute == "sex" || attribute == "age" || attribute == "source" ||
                          attribute == "study";
    if (!is_known)
      refuse_arguments("eval --by", "attributes separated by commas", attribute,
                       "one of view, sex, age, source, study");
  }
  if (!caffe_log.empty() && has_group("study")) {
    refuse_arguments("eval --caffe-log", "one score per image", "--by study", "eval without --by study");
  }
  if (has_group("view") && has_group("study")) {
    refuse_arguments("eval --by", "view or study", "both",
                     "two runs of eval, because a study has images of several views");
  }
  if (!image_list.empty() && split != "test") refuse_arguments("eval", "--list or --split", "both");
  static_cast<void>(data::test_views(views));
  static_cast<void>(eval::parse_threshold_rule(rule));
  if (!aggregate.empty()) {
    static_cast<void>(eval::parse_aggregate(aggregate));
    if (!has_group("study")) refuse_missing("eval --aggregate", "--by study");
  }
}

}  // namespace roentgen::cli
