// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What `roentgen eval` evaluates, wherever the probabilities come from: predictions beside the truth, and what is known
// of each image for subgroups and studies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/label_table.h"
#include "cli/prediction_file.h"
#include "eval/predictions.h"
#include "eval/subgroup.h"

namespace roentgen::data {
struct Dataset;
}

namespace roentgen::cli {

/// Predictions, and a row of facts an image (labels of the facts are not used).
struct EvalSet {
  eval::Predictions predictions;
  /// (N)
  std::vector<LabelRow> facts;
  /// io::name_list_sha256 of the images, by the names that the labels have: those of the data set.
  std::string list_sha256;
  /// "image", or how studies were merged: "study, max".
  std::string unit = "image";
  /// Images whose patient no table knows: each counts as a patient of its own.
  std::int64_t unknown_patients = 0;
};

/// Predictions of a file with the truth of a table, matched by name. DataError when an image has no row there, or a
/// label is not known there. Exclusive outputs are recognised: every image has exactly one label and probabilities that
/// sum to 1.
/// @param what the file, for errors
[[nodiscard]] EvalSet join(PredictionFile file, const LabelTable& table, std::string_view what);

/// Predictions of a checkpoint on `samples` of a data folder.
/// @param with_studies also reads the folder's label tables again for the study of each image
[[nodiscard]] EvalSet with_facts(eval::Predictions predictions, const data::Dataset& dataset,
                                 const std::vector<std::uint32_t>& samples, bool with_studies);

/// One row a study. DataError where an image's study is not known.
[[nodiscard]] EvalSet by_study(const EvalSet& set, eval::Aggregate aggregate);

/// The value of an attribute ("view", "sex", "age" or "source") for each row; empty where unknown.
[[nodiscard]] std::vector<std::string> attribute_values(const EvalSet& set, std::string_view attribute);

/// Validation may share no image with the test, and no patient unless `allows_patients`: DataError, else a warning.
void check_apart(const EvalSet& validation, const EvalSet& test, bool allows_patients);

/// Line about images of unknown patient: "3 images of unknown patient: each counts as a patient of its own".
[[nodiscard]] std::string unknown_patients_text(std::int64_t images);

}  // namespace roentgen::cli
