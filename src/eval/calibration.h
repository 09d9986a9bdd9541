// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Calibration: whether three in ten images with probability 0.3 are positive. Brier score, expected calibration error,
// and the bins of the reliability diagram. temperature.h improves the calibration.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/figure.h"
#include "eval/score_counts.h"

namespace roentgen::eval {

/// Brier score: mean of (probability - truth)^2 (Brier 1950). Undefined without samples and for scores outside [0, 1].
[[nodiscard]] Figure brier(const ScoreCounts& counts);

/// Number of equal-width bins in the reliability diagram.
inline constexpr int kReliabilityBins = 15;

/// One bin with the probabilities in [low, high); the last bin also includes `high`.
struct ReliabilityBin {
  double low = 0.0;            ///< smallest probability, included
  double high = 0.0;           ///< largest probability, excluded except in the last bin
  std::int64_t n = 0;          ///< number of samples in the bin
  std::int64_t positives = 0;  ///< number of positives in the bin
  /// Mean predicted probability in the bin; NaN if it is empty.
  double mean_probability = 0.0;
};

/// Returns the kReliabilityBins bins of the reliability diagram; no bins if brier() is undefined.
[[nodiscard]] std::vector<ReliabilityBin> reliability(const ScoreCounts& counts);

/// Expected calibration error: mean over samples of |share of positives - mean probability| in the bin of the sample.
/// Follows Naeini et al. 2015, but uses the probability of the label instead of the winning class. Undefined if brier()
/// is.
[[nodiscard]] Figure expected_calibration_error(const ScoreCounts& counts);

}  // namespace roentgen::eval
