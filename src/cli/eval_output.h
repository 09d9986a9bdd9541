// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What `roentgen eval` writes beside its table: csv files of curves and reliability, the mark of a version of labels.
#pragma once

#include <string>

#include "core/value.h"
#include "eval/operating_points.h"
#include "eval/predictions.h"

namespace roentgen::cli {

/// Points of the ROC and precision-recall curves of every label:
/// "label,threshold,sensitivity,specificity,ppv,true_positives,false_positives,false_negatives,true_negatives", by
/// descending threshold, inf first. Undefined rates are empty fields.
[[nodiscard]] std::string curves_csv(const eval::Predictions& predictions);

/// Reliability diagram of every label: "label,scores,low,high,n,positives,mean_probability,positive_share" with scores
/// "raw" and, where points hold a temperature, "scaled". Empty bins have empty fields.
/// @param points may be null
[[nodiscard]] std::string reliability_csv(const eval::Predictions& predictions, const eval::OperatingPoints* points);

/// Name of the known split list with this hash (eval/split_list.h), or null.
[[nodiscard]] Value known_list_value(const std::string& sha256);

/// {label: images where it is true}: the mark of a version of the labels that needs no file.
[[nodiscard]] Value positives_value(const eval::Predictions& predictions);

}  // namespace roentgen::cli
