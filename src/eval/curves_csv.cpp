// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/curves_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/foreign_text.h"
#include "eval/calibration.h"
#include "eval/label_scores.h"
#include "eval/temperature.h"

namespace roentgen::eval {
namespace {

std::string field(double value) { return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value); }

std::string reliability_rows(const Predictions& predictions, std::string_view scores) {
  std::string text;
  const Clusters clusters = make_clusters(predictions.patients);
  for (std::size_t i = 0; i < predictions.label_names.size(); ++i) {
    const RankedScores ranked = rank_label(predictions, i, clusters);
    for (const ReliabilityBin& bin : reliability(ranked.count())) {
      const double share = static_cast<double>(bin.positives) / static_cast<double>(bin.n);  // NaN if the bin is empty
      fmt::format_to(std::back_inserter(text), "{},{},{:.9g},{:.9g},{},{},{},{}\n",
                     csv_field(predictions.label_names[i]), scores, bin.low, bin.high, bin.n, bin.positives,
                     field(bin.mean_probability), field(share));
    }
  }
  return text;
}

}  // namespace

std::string curves_csv(const Predictions& predictions) {
  std::string text =
      "label,threshold,sensitivity,specificity,ppv,true_positives,false_positives,false_negatives,true_negatives\n";
  const Clusters clusters = make_clusters(predictions.patients);
  for (std::size_t i = 0; i < predictions.label_names.size(); ++i) {
    const std::string label = csv_field(predictions.label_names[i]);
    const RankedScores ranked = rank_label(predictions, i, clusters);
    for (const auto& [threshold, counts] : curve_points(ranked.count())) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{}\n", label, field(threshold),
                     field(sensitivity(counts).value), field(specificity(counts).value),
                     field(positive_predictive_value(counts).value), counts.true_positives, counts.false_positives,
                     counts.false_negatives, counts.true_negatives);
    }
  }
  return text;
}

std::string reliability_csv(const Predictions& predictions, const OperatingPoints* points) {
  std::string text = "label,scores,low,high,n,positives,mean_probability,positive_share\n";
  text += reliability_rows(predictions, "raw");
  if (points != nullptr && points->temperature && are_probabilities(predictions)) {
    text += reliability_rows(scaled_by(predictions, *points->temperature), "scaled");
  }
  return text;
}

}  // namespace roentgen::eval
