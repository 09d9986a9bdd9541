// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/eval_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/foreign_text.h"
#include "eval/calibration.h"
#include "eval/label_scores.h"
#include "eval/split_list.h"
#include "eval/temperature.h"

namespace roentgen::cli {
namespace {

std::string field(double value) { return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value); }

std::string reliability_rows(const eval::Predictions& predictions, std::string_view scores) {
  std::string text;
  const eval::Clusters clusters = eval::make_clusters(predictions.patients);
  for (std::size_t i = 0; i < predictions.label_names.size(); ++i) {
    const eval::RankedScores ranked = eval::rank_label(predictions, i, clusters);
    for (const eval::ReliabilityBin& bin : eval::reliability(ranked.count())) {
      const double share = static_cast<double>(bin.positives) / static_cast<double>(bin.n);  // NaN in an empty bin
      fmt::format_to(std::back_inserter(text), "{},{},{:.9g},{:.9g},{},{},{},{}\n",
                     csv_field(predictions.label_names[i]), scores, bin.low, bin.high, bin.n, bin.positives,
                     field(bin.mean_probability), field(share));
    }
  }
  return text;
}

}  // namespace

Value known_list_value(const std::string& sha256) {
  const eval::KnownList* known = eval::find_known_list(sha256);
  return known == nullptr ? Value(nullptr) : Value(known->id);
}

std::string curves_csv(const eval::Predictions& predictions) {
  std::string text =
      "label,threshold,sensitivity,specificity,ppv,true_positives,false_positives,false_negatives,true_negatives\n";
  const eval::Clusters clusters = eval::make_clusters(predictions.patients);
  for (std::size_t i = 0; i < predictions.label_names.size(); ++i) {
    const std::string label = csv_field(predictions.label_names[i]);
    const eval::RankedScores ranked = eval::rank_label(predictions, i, clusters);
    for (const auto& [threshold, counts] : eval::curve_points(ranked.count())) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{}\n", label, field(threshold),
                     field(eval::sensitivity(counts).value), field(eval::specificity(counts).value),
                     field(eval::positive_predictive_value(counts).value), counts.true_positives,
                     counts.false_positives, counts.false_negatives, counts.true_negatives);
    }
  }
  return text;
}

std::string reliability_csv(const eval::Predictions& predictions, const eval::OperatingPoints* points) {
  std::string text = "label,scores,low,high,n,positives,mean_probability,positive_share\n";
  text += reliability_rows(predictions, "raw");
  const bool has_probabilities =
      std::ranges::all_of(predictions.probabilities, [](float p) { return p >= 0.0F && p <= 1.0F; });
  if (points != nullptr && points->temperature && has_probabilities) {
    text += reliability_rows(eval::scaled_by(predictions, *points->temperature), "scaled");
  }
  return text;
}

Value positives_value(const eval::Predictions& predictions) {
  Value counts = Value::table();
  const std::size_t K = predictions.label_names.size();
  for (std::size_t k = 0; k < K; ++k) {
    std::int64_t positives = 0;
    for (std::size_t i = k; i < predictions.labels.size(); i += K) positives += predictions.labels[i] == 1 ? 1 : 0;
    counts.set(predictions.label_names[k], positives);
  }
  return counts;
}

}  // namespace roentgen::cli
