// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Area under the precision-recall curve, and its baseline.
#pragma once

#include "eval/figure.h"
#include "eval/score_counts.h"

namespace roentgen::eval {

/// Area under the precision-recall curve as average precision: sum over descending distinct scores of (increase of
/// recall) * precision. There is no interpolation, as in scikit-learn's average_precision_score. A random classifier
/// reaches prevalence(), so reports show both. Undefined if a class is absent.
[[nodiscard]] Figure average_precision(const ScoreCounts& counts);

/// Returns the share of samples that are positive. Undefined without samples.
[[nodiscard]] Figure prevalence(const ScoreCounts& counts);

}  // namespace roentgen::eval
