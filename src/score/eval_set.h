// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Evaluation set from any origin of probabilities: predictions and truth, and the subgroup and study of each image.
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

/// Properties of an image besides its labels. Empty or NaN: unknown.
struct ImageFacts {
  std::string patient{};                                      ///< never printed
  std::string study{};                                        ///< distinct among all patients
  std::string view{};                                         ///< "PA", "AP", "LL", ...
  std::string sex{};                                          ///< "M" or "F"
  float age_years = std::numeric_limits<float>::quiet_NaN();  ///< age in years
  /// Name of its data set, when there are several.
  std::string source{};
};

/// Predictions matched with the truth, and properties of each image. Plain value.
struct EvalSet {
  eval::Predictions predictions{};  ///< (N, K) scores and labels
  /// (N)
  std::vector<ImageFacts> facts{};
  /// io::name_list_sha256 of the images, by the names that the labels have: those of the data set.
  std::string list_sha256{};
  /// "image", or how studies were merged: "study, max".
  std::string unit = "image";
  /// Images whose patient no table knows: each counts as a patient of its own.
  std::int64_t unknown_patients = 0;
};

/// Matches the predictions of a file with the truth by name. DataError when an image has no row there, or a label is
/// unknown there. Exclusive outputs are recognised: every image has exactly one label and probabilities that sum to 1.
/// @param truth read for the labels of the file, in their order
/// @param what the file, for errors
[[nodiscard]] EvalSet join(PredictionFile file, const Truth& truth, std::string_view what);

/// Predictions of a checkpoint on `samples` (indices) of a data set.
[[nodiscard]] EvalSet with_facts(eval::Predictions predictions, const data::Dataset& dataset,
                                 const std::vector<std::uint32_t>& samples);

/// Merges the images of each study into one row. Throws DataError where an image's study is not known.
[[nodiscard]] EvalSet by_study(const EvalSet& set, eval::Aggregate aggregate);

/// The value of an attribute ("view", "sex", "age" or "source") for each row; empty where unknown.
[[nodiscard]] std::vector<std::string> attribute_values(const EvalSet& set, std::string_view attribute);

/// Throws DataError when validation and test share an image. For a shared patient: DataError, or a warning.
void check_apart(const EvalSet& validation, const EvalSet& test, eval::OnOverlap on_patients);

/// Line about images of unknown patient: "3 images of unknown patient: each counts as a patient of its own"; empty
/// where there is none.
[[nodiscard]] std::string unknown_patients_text(const EvalSet& set);

}  // namespace roentgen::score
