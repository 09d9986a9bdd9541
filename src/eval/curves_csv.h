// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ROC and precision-recall curves and reliability diagrams of every label as CSV.
#pragma once

#include <string>

#include "eval/operating_points.h"
#include "eval/predictions.h"

namespace roentgen::eval {

/// Returns CSV text with the points of the ROC and precision-recall curves of every label, by descending threshold from
/// inf: "label,threshold,sensitivity,specificity,ppv,true_positives,false_positives,false_negatives,true_negatives".
/// Undefined rates are empty fields.
[[nodiscard]] std::string curves_csv(const Predictions& predictions);

/// Returns CSV text of every label's reliability diagram:
/// "label,scores,low,high,n,positives,mean_probability,positive_share". The column "scores" is "raw" and, if `points`
/// contains a temperature, also "scaled". Empty bins have empty fields.
/// @param points thresholds and temperature; may be null
[[nodiscard]] std::string reliability_csv(const Predictions& predictions, const OperatingPoints* points);

}  // namespace roentgen::eval
