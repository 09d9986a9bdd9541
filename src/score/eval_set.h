// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// EvalSet: predictions with true labels, and patient, study and subgroups of each image. The predictions may come from
// a checkpoint or a file.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "eval/predictions.h"

namespace roentgen::data {
struct Dataset;
}
namespace roentgen::eval {
enum class Aggregate : std::uint8_t;
enum class OnOverlap : std::uint8_t;
}  // namespace roentgen::eval

namespace roentgen::score {

struct PredictionFile;
struct Truth;

/// Properties of an image besides its labels. Empty or NaN if unknown.
struct ImageFacts {
  std::string patient{};                                      ///< id of the patient, never printed
  std::string study{};                                        ///< id of the study, which differs between patients
  std::string view{};                                         ///< view: "PA", "AP", "LL", ...
  std::string sex{};                                          ///< sex: "M" or "F"
  float age_years = std::numeric_limits<float>::quiet_NaN();  ///< age in years
  /// Name of the image's data set, if there are several.
  std::string source{};
};

/// Predictions with the true labels, and properties of each image. Plain value.
struct EvalSet {
  eval::Predictions predictions{};  ///< (N, K) probabilities and true labels
  /// (N) properties of the images.
  std::vector<ImageFacts> facts{};
  /// Result of io::name_list_sha256 for the image names of the data set.
  std::string list_sha256{};
  /// Unit of a row: "image", or "study, max" or "study, mean" if the images of a study were merged.
  std::string unit = "image";
  /// Number of images whose patient is unknown. Each counts as a separate patient.
  std::int64_t unknown_patients = 0;
};

/// Matches the predictions of a file with the true labels by image name. Throws DataError if `truth` lacks an image or
/// a label of the file. The outputs are Exclusive if every image has exactly one label and probabilities that sum to 1.
/// @param truth true labels, read by read_truth() for the labels of the file
/// @param what name of the file, for errors
[[nodiscard]] EvalSet join(PredictionFile file, const Truth& truth, std::string_view what);

/// Combines a checkpoint's predictions for `samples` (indices) with properties of the images from the data set.
[[nodiscard]] EvalSet with_facts(eval::Predictions predictions, const data::Dataset& dataset,
                                 const std::vector<std::uint32_t>& samples);

/// Merges the images of each study into one row. Throws DataError if the study of an image is not known.
[[nodiscard]] EvalSet by_study(const EvalSet& set, eval::Aggregate aggregate);

/// Returns the value of an attribute ("view", "sex", "age" or "source") for each row; empty if unknown.
[[nodiscard]] std::vector<std::string> attribute_values(const EvalSet& set, std::string_view attribute);

/// Throws DataError if validation and test share an image. If they share a patient, throws DataError or warns, as
/// `on_patients` says.
void check_apart(const EvalSet& validation, const EvalSet& test, eval::OnOverlap on_patients);

/// Returns a text such as "3 images of unknown patient: each counts as a patient of its own", or "" if all patients are
/// known.
[[nodiscard]] std::string unknown_patients_text(const EvalSet& set);

}  // namespace roentgen::score
