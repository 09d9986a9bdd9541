// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Calibration: whether a probability of 0.3 comes true three times in ten. Brier score and expected calibration error
// with its bins. temperature.h improves the calibration of probabilities.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/figure.h"
#include "eval/score_counts.h"

namespace roentgen::eval {

/// Mean of (probability - truth)^2 (Brier 1950). Undefined without samples and for scores outside [0, 1].
[[nodiscard]] Figure brier(const ScoreCounts& counts);

/// Equal-width bins of the reliability diagram.
inline constexpr int kReliabilityBins = 15;

/// One bin: probabilities in [low, high), in the last one [low, 1].
struct ReliabilityBin {
  double low = 0.0;            ///< least probability, included
  double high = 0.0;           ///< greatest probability
  std::int64_t n = 0;          ///< samples in it
  std::int64_t positives = 0;  ///< positives among them
  /// NaN in an empty bin.
  double mean_probability = 0.0;
};

/// (kReliabilityBins), empty where brier() is undefined.
[[nodiscard]] std::vector<ReliabilityBin> reliability(const ScoreCounts& counts);

/// Expected calibration error: mean over samples of |share of positives - mean probability| of their bin. As Naeini et
/// al. 2015, but for the label's own probability, not the winning class's. Undefined as brier().
[[nodiscard]] Figure expected_calibration_error(const ScoreCounts& counts);

}  // namespace roentgen::eval
