// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python interface to AUROCs with intervals by patient, and to comparisons of two models, for arrays.
#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "eval/comparison.h"
#include "eval/metric.h"
#include "eval/predictions.h"
#include "eval/table.h"
#include "python/core/options.h"
#include "python/interrupt.h"
#include "python/module.h"
#include "python/native_call.h"
#include "python/values.h"
#include "train/recipe.h"

namespace nb = nanobind;

namespace roentgen::python {
namespace {

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Scores (N, K), truth (N, K) of 1, 0 and NaN, and patients (N). Images are named by their row numbers.
struct ScoredRows {
  Matrix scores;
  Matrix truth;
  Numbers patients;
  std::vector<std::string> labels;
  bool is_exclusive = false;
};

eval::Predictions predictions_of(const ScoredRows& rows) {
  const std::size_t images = rows.scores.shape(0), labels = rows.scores.shape(1);
  RG_ASSERT(rows.truth.shape(0) == images && rows.truth.shape(1) == labels && rows.labels.size() == labels &&
            rows.patients.shape(0) == images);
  eval::Predictions predictions{.label_names = rows.labels,
                                .patients = {rows.patients.data(), rows.patients.data() + images},
                                .probabilities = {rows.scores.data(), rows.scores.data() + images * labels},
                                .outputs = rows.is_exclusive ? eval::Outputs::Exclusive : eval::Outputs::Independent};
  for (std::size_t i = 0; i < images; ++i) predictions.image_ids.push_back("row " + std::to_string(i));
  predictions.labels.reserve(images * labels);
  for (std::size_t i = 0; i < images * labels; ++i) {
    const float truth = rows.truth.data()[i];
    if (!std::isnan(truth) && truth != 0.0F && truth != 1.0F) {
      throw DataError(error_text("python.scores", "y, row " + std::to_string(i / labels), "1, 0 or NaN",
                                 std::to_string(truth), "NaN for unknown labels"));
    }
    predictions.labels.push_back(std::isnan(truth) ? eval::kUnknown : static_cast<std::int8_t>(truth));
  }
  return predictions;
}

eval::BootstrapOptions bootstrap_of(std::int64_t replicates, std::int64_t seed) {
  return {.replicates = within(replicates, {.most = 1'000'000}, "python.scores", "replicates"),
          .seed = static_cast<std::uint64_t>(within(seed, {}, "python.scores", "seed")),
          .threads = train::compute_threads({}),
          .on_replicate = FrequentInterruptCheck()};
}

// Throws DataError for scores that are not probabilities if a calibration metric is requested.
void require_probabilities(const eval::Predictions& predictions, const std::vector<eval::Metric>& metrics) {
  const auto of_probabilities = [](eval::Metric metric) {
    return eval::info_of(metric).classes == eval::MetricClasses::Pooled;
  };
  const auto metric = std::ranges::find_if(metrics, of_probabilities);
  const auto score =
      std::ranges::find_if(predictions.probabilities, [](float value) { return !(value >= 0.0F && value <= 1.0F); });
  if (metric == metrics.end() || score == predictions.probabilities.end()) return;
  const auto row = (score - predictions.probabilities.begin()) / predictions.label_count();
  const std::string_view key = eval::info_of(*metric).key;
  throw DataError(error_text("python.scores", fmt::format("scores, row {}", row),
                             fmt::format("probabilities from 0 to 1 for the metric {}", key), fmt::to_string(*score),
                             "probabilities, or metrics without brier and ece"));
}

std::vector<eval::Metric> metrics_of(const std::vector<std::string>& keys) {
  std::vector<eval::Metric> metrics;
  for (const std::string& key : keys) {
    const auto known = eval::metrics();
    const auto info = std::ranges::find(known, key, &eval::MetricInfo::key);
    if (info == known.end() || info->needs != eval::MetricNeeds::Counts) {
      std::string keys_text;
      for (const eval::MetricInfo& one : known) {
        if (one.needs != eval::MetricNeeds::Counts) continue;
        keys_text += keys_text.empty() ? one.key : ", " + std::string(one.key);
      }
      throw ConfigError(error_text("python.scores", "metrics", "a metric that needs no threshold", key,
                                   "one or more of " + keys_text));
    }
    metrics.push_back(info->metric);
  }
  return metrics;
}

// Tuple of the results as a dict and the table as text.
nb::tuple evaluate(const Matrix& scores, const Matrix& truth, const Numbers& patients,
                   const std::vector<std::string>& labels, bool is_exclusive, std::int64_t replicates,
                   std::int64_t seed, const std::vector<std::string>& metrics) {
  Value figures;
  std::string text;
  {
    const NativeCall call;
    const eval::Predictions predictions = predictions_of({scores, truth, patients, labels, is_exclusive});
    const std::vector<eval::Metric> asked = metrics_of(metrics);
    require_probabilities(predictions, asked);
    const eval::EvalTable table = eval::evaluate(predictions, bootstrap_of(replicates, seed), {.metrics = asked});
    figures = eval::to_value(table);
    text = eval::to_text(table) + (metrics.empty() ? std::string() : eval::details_text(table));
  }
  return nb::make_tuple(to_python(figures), text);
}

nb::tuple compare(const Matrix& scores_a, const Matrix& scores_b, const Matrix& truth, const Numbers& patients,
                  const std::vector<std::string>& labels, bool is_exclusive, std::int64_t replicates,
                  std::int64_t seed) {
  Value figures;
  std::string text;
  {
    const NativeCall call;
    const eval::Predictions a = predictions_of({scores_a, truth, patients, labels, is_exclusive});
    const eval::Predictions b = predictions_of({scores_b, truth, patients, labels, is_exclusive});
    const eval::Comparison comparison = eval::compare(a, b, bootstrap_of(replicates, seed));
    figures = eval::to_value(comparison);
    text = eval::to_text(comparison);
  }
  return nb::make_tuple(to_python(figures), text);
}

}  // namespace

void add_scores(nb::module_& module) {
  module.def("evaluate", &evaluate);
  module.def("compare", &compare);
}

}  // namespace roentgen::python
