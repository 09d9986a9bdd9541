// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/predictions.h"

#include <cmath>
#include <string_view>
#include <unordered_set>

#include "core/error.h"

namespace roentgen::eval {
namespace {
void require_size(std::string_view what, std::size_t expected, std::size_t got) {
  if (expected == got) return;
  throw DataError(error_text("eval.predictions", what, std::to_string(expected) + " entries", std::to_string(got)));
}

void require_distinct(std::string_view what, const std::vector<std::string>& names) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen.insert(names[i]).second) continue;
    throw DataError(error_text("eval.predictions", std::string(what) + " " + std::to_string(i + 1), "each name once",
                               "a name that occurs twice"));
  }
}
}  // namespace

void check_predictions(const Predictions& predictions) {
  const std::size_t images = predictions.image_ids.size();
  const std::size_t labels = predictions.label_names.size();
  require_size("patients", images, predictions.patients.size());
  require_size("probabilities", images * labels, predictions.probabilities.size());
  require_size("labels", images * labels, predictions.labels.size());
  require_distinct("label name", predictions.label_names);
  require_distinct("image", predictions.image_ids);
  for (std::size_t i = 0; i < images * labels; ++i) {
    const float probability = predictions.probabilities[i];
    const std::int8_t label = predictions.labels[i];
    if (std::isfinite(probability) && (label == 0 || label == 1 || label == kUnknown)) continue;
    const std::string where = "image " + std::to_string(i / labels + 1) + ", " + predictions.label_names[i % labels];
    if (!std::isfinite(probability)) {
      throw DataError(
          error_text("eval.predictions", where, "a finite number as probability", std::to_string(probability)));
    }
    throw DataError(error_text("eval.predictions", where, "label 1, 0 or -1 (unknown)", std::to_string(label)));
  }
}

Value positives_value(const Predictions& predictions) {
  Value counts = Value::table();
  const std::size_t K = predictions.label_names.size();
  for (std::size_t k = 0; k < K; ++k) {
    std::int64_t positives = 0;
    for (std::size_t i = k; i < predictions.labels.size(); i += K) positives += predictions.labels[i] == 1 ? 1 : 0;
    counts.set(predictions.label_names[k], positives);
  }
  return counts;
}

}  // namespace roentgen::eval
