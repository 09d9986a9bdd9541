// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Area under the precision-recall curve, and its baseline.
#pragma once

#include "eval/figure.h"
#include "eval/score_counts.h"

namespace roentgen::eval {

/// AUPRC as average precision: sum over descending distinct scores of (recall gained) * precision, without
/// interpolation (scikit-learn's average_precision_score). A random classifier reaches prevalence(), so show both
/// together. Undefined when a class is absent.
[[nodiscard]] Figure average_precision(const ScoreCounts& counts);

/// Share of positives. Undefined without samples.
[[nodiscard]] Figure prevalence(const ScoreCounts& counts);

}  // namespace roentgen::eval
