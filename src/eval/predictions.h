// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predicted probabilities and true labels, from which src/eval computes every metric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::eval {

/// Label value if the truth is unknown. All metrics of the label ignore the image.
inline constexpr std::int8_t kUnknown = -1;

/// Relation between the K probabilities of an image.
enum class Outputs : std::uint8_t {
  Independent,  ///< each label has its own sigmoid
  Exclusive,    ///< softmax: the probabilities sum to 1 and one label is true
};

/// Predictions of one model on N images for K labels. Plain value.
struct Predictions {
  /// (K) distinct names of the labels. Labels are always matched by name, never by position.
  std::vector<std::string> label_names;
  /// (N) distinct names of the images
  std::vector<std::string> image_ids;
  /// (N) numbers of the patients, equal for images of one patient. An image of an unknown patient has a number of its
  /// own.
  std::vector<std::int64_t> patients;
  /// (N, K) finite scores, in 0 ... 1 if they are probabilities. AUROC uses only their order.
  std::vector<float> probabilities;
  /// (N, K) truth: 1, 0 or kUnknown.
  std::vector<std::int8_t> labels;
  Outputs outputs = Outputs::Independent;  ///< relation between the K probabilities

  /// Number of images, N.
  [[nodiscard]] std::int64_t image_count() const { return static_cast<std::int64_t>(image_ids.size()); }
  /// Number of labels, K.
  [[nodiscard]] std::int64_t label_count() const { return static_cast<std::int64_t>(label_names.size()); }
};

/// Throws DataError if sizes do not match, a label or image name occurs twice, or a value is invalid. Probabilities
/// must be finite and labels 1, 0 or kUnknown. Errors give the number of a row, never its image name, because that can
/// contain a patient's number.
void check_predictions(const Predictions& predictions);

/// Returns {label: number of positive images}. It identifies the version of the labels without a file.
[[nodiscard]] Value positives_value(const Predictions& predictions);

}  // namespace roentgen::eval
