// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of src/eval: random predictions of patients with several images.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "core/random.h"
#include "eval/predictions.h"

namespace roentgen::eval {

inline constexpr int kImagesEach = 3;

/// Draws predictions for `patients` patients with three images each. Images of a patient share the labels "Mass" and
/// "Edema", which the model predicts well; "Hernia" has no positive.
inline Predictions draw_patients(int patients, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  Predictions drawn{.label_names = {"Mass", "Edema", "Hernia"}};
  for (int patient = 0; patient < patients; ++patient) {
    const bool has[] = {random.chance(0.3), random.chance(0.5), false};
    const double own[] = {0.8 * random.normal(), 0.8 * random.normal(), 0.8 * random.normal()};
    for (int i = 0; i < kImagesEach; ++i) {
      drawn.image_ids.push_back(std::to_string(patient) + "_" + std::to_string(i));
      drawn.patients.push_back(patient);
      for (int label = 0; label < 3; ++label) {
        const double logit = (has[label] ? 1.0 : -0.7) + own[label] + random.normal();
        drawn.probabilities.push_back(static_cast<float>(1.0 / (1.0 + std::exp(-logit))));
        drawn.labels.push_back(has[label] ? 1 : 0);
      }
    }
  }
  return drawn;
}

/// Returns the predictions with rows in the order `rows`.
template <typename Rows>
Predictions with_rows(const Predictions& from, const Rows& rows) {
  Predictions result{.label_names = from.label_names, .outputs = from.outputs};
  const std::size_t K = from.label_names.size();
  for (const std::size_t row : rows) {
    result.image_ids.push_back(from.image_ids[row]);
    result.patients.push_back(from.patients[row]);
    for (std::size_t k = 0; k < K; ++k) {
      result.probabilities.push_back(from.probabilities[row * K + k]);
      result.labels.push_back(from.labels[row * K + k]);
    }
  }
  return result;
}

}  // namespace roentgen::eval
