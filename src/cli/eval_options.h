// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options of `roentgen eval`, and the check of their combinations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/inference_options.h"
#include "cli/launch.h"

namespace roentgen::cli {

/// Options of `roentgen eval`; list() describes each one. An empty path means that the option is not given.
struct EvalOptions {
  std::filesystem::path checkpoint;
  std::vector<std::string> data;
  std::string split = "test";
  /// List of images to evaluate; the argument of score::find_list().
  std::string image_list;
  std::vector<std::string> overrides;
  /// Prediction files of one model, or of several models whose probabilities are averaged.
  std::vector<std::string> predictions;
  std::filesystem::path labels;
  /// Prediction files on the validation split, one for each of `predictions`.
  std::vector<std::string> validation;
  /// Value of data::test_views.
  std::string views = "none";
  std::string metrics = "default";
  std::string rule = "f1";
  std::filesystem::path points;
  std::filesystem::path save_points;
  std::string by;
  /// How the predictions for the images of a study are combined: max or mean; empty: max.
  std::string aggregate;
  std::filesystem::path save_predictions;
  std::filesystem::path save_aurocs;
  std::filesystem::path save_curves;
  std::filesystem::path save_reliability;
  /// File to which top-1 and top-5 accuracy and loss are appended in the form of Caffe's log.
  std::filesystem::path caffe_log;
  InferenceOptions inference;
  std::int64_t replicates = 1000;
  std::int64_t seed = 0;
  bool allows_overlap = false;
  bool is_partial = false;
  RankOptions ranks;

  /// Returns the command-line options, which set the fields of this object.
  [[nodiscard]] std::vector<Option> list();
  /// Throws ConfigError for options that cannot be combined.
  void check() const;
  /// Returns the patient and image attributes that --by names, such as sex or view.
  [[nodiscard]] std::vector<std::string> groups() const;
  [[nodiscard]] bool has_group(std::string_view attribute) const;
  /// True if thresholds and temperature should be fitted on the validation split, if there is one.
  [[nodiscard]] bool wants_points() const;
};

}  // namespace roentgen::cli
