// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Temperature scaling (Guo et al. 2017): divides all logits of a model by one number T, fitted on validation. For
// sigmoid outputs it keeps the ranking of images, so AUROC does not change; Brier score and calibration error do.
#pragma once

#include "eval/figure.h"
#include "eval/predictions.h"

namespace roentgen::eval {

/// Lower end of the searched temperatures. If the best temperature is at an end of the range, it counts as undefined.
inline constexpr double kMinTemperature = 0.05;
/// Upper end of the searched temperatures.
inline constexpr double kMaxTemperature = 20.0;

/// Reason why the temperature is undefined.
inline constexpr std::string_view kNoTemperature =
    "no temperature between 0.05 and 20 is best: validation is separated perfectly, or scores are no better than noise";

/// True if all scores lie in [0, 1].
[[nodiscard]] bool are_probabilities(const Predictions& predictions);

/// Fits the temperature T with the lowest mean negative log-likelihood of the known labels. For Exclusive outputs, only
/// images with exactly one true label count. The problem is convex in 1 / T; Newton steps inside a bracket solve it to
/// a relative 1e-10. Logits are computed from the probabilities; the float32 values 0 and 1 are replaced by the nearest
/// values inside (0, 1). Undefined without known labels, for scores outside [0, 1], and if the best T is at an end of
/// the searched range.
[[nodiscard]] Figure fit_temperature(const Predictions& validation);

/// Returns the predictions with every logit divided by `temperature` > 0. Scores must lie in [0, 1].
[[nodiscard]] Predictions scaled_by(const Predictions& predictions, double temperature);

}  // namespace roentgen::eval
