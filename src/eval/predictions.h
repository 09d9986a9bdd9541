// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predicted probabilities and the truth, from which every metric of this room is computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::eval {

/// Truth that is not known: left out of every figure of its label.
inline constexpr std::int8_t kUnknown = -1;

/// Kind of the K probabilities of an image.
enum class Outputs : std::uint8_t {
  Independent,  ///< one sigmoid a label
  Exclusive,    ///< softmax: they sum to 1 and one label is true
};

/// Predictions of one model on N images for K labels. Plain value.
struct Predictions {
  /// (K) distinct; labels are matched by name everywhere, never by position.
  std::vector<std::string> label_names;
  /// (N) distinct names of the images
  std::vector<std::string> image_ids;
  /// (N) any numbers, equal for images of the same patient. Where the patient is unknown, one number per image.
  std::vector<std::int64_t> patients;
  /// (N, K) finite, 0 ... 1 when they are probabilities; only their order matters to AUROC
  std::vector<float> probabilities;
  /// (N, K) 1, 0 or kUnknown
  std::vector<std::int8_t> labels;
  Outputs outputs = Outputs::Independent;  ///< kind of the probabilities

  [[nodiscard]] std::int64_t image_count() const { return static_cast<std::int64_t>(image_ids.size()); }    ///< N
  [[nodiscard]] std::int64_t label_count() const { return static_cast<std::int64_t>(label_names.size()); }  ///< K
};

/// Throws DataError when sizes do not match, a name or image occurs twice, or a value is invalid. Valid are finite
/// probabilities and the labels 1, 0, kUnknown. Names rows by number, never by image, since an image's name can hold a
/// patient's number.
void check_predictions(const Predictions& predictions);

/// {label: images where it is true}: the mark of a version of the labels that needs no file.
[[nodiscard]] Value positives_value(const Predictions& predictions);

}  // namespace roentgen::eval
