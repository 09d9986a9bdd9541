// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/metric.h"

#include <array>

#include "eval/calibration.h"
#include "eval/precision_recall.h"
#include "eval/temperature.h"

namespace roentgen::eval {
namespace {

Figure at_threshold(const MetricInput& input, Figure (*rate)(const Confusion&)) {
  return input.confusion == nullptr ? undefined(kNoThreshold) : rate(*input.confusion);
}

Figure when_scaled(const MetricInput& input, Figure (*figure)(const ScoreCounts&)) {
  if (input.scaled != nullptr) return figure(*input.scaled);
  const Figure raw =
      figure(input.counts);  // a missing temperature is reported only if the metric is defined without it
  return raw.is_defined() ? undefined(kNoTemperature) : raw;
}

Figure measure_auprc(const MetricInput& input) { return average_precision(input.counts); }
Figure measure_sensitivity_at_specificity_90(const MetricInput& input) {
  return sensitivity_at_specificity(input.counts, 0.90);
}
Figure measure_sensitivity_at_specificity_95(const MetricInput& input) {
  return sensitivity_at_specificity(input.counts, 0.95);
}
Figure measure_specificity_at_sensitivity_90(const MetricInput& input) {
  return specificity_at_sensitivity(input.counts, 0.90);
}
Figure measure_specificity_at_sensitivity_95(const MetricInput& input) {
  return specificity_at_sensitivity(input.counts, 0.95);
}
Figure measure_f1(const MetricInput& input) { return at_threshold(input, f1); }
Figure measure_sensitivity(const MetricInput& input) { return at_threshold(input, sensitivity); }
Figure measure_specificity(const MetricInput& input) { return at_threshold(input, specificity); }
Figure measure_ppv(const MetricInput& input) { return at_threshold(input, positive_predictive_value); }
Figure measure_npv(const MetricInput& input) { return at_threshold(input, negative_predictive_value); }
Figure measure_brier(const MetricInput& input) { return brier(input.counts); }
Figure measure_ece(const MetricInput& input) { return expected_calibration_error(input.counts); }
Figure measure_brier_scaled(const MetricInput& input) { return when_scaled(input, brier); }
Figure measure_ece_scaled(const MetricInput& input) { return when_scaled(input, expected_calibration_error); }

#define RG_METRIC_INFO(name, key, title, needs, classes) \
  MetricInfo{Metric::name, #key, title, MetricNeeds::needs, MetricClasses::classes},
constexpr std::array kMetrics{RG_METRIC_LIST(RG_METRIC_INFO)};
#undef RG_METRIC_INFO

#define RG_METRIC_FUNCTION(name, key, title, needs, classes) measure_##key,
constexpr std::array kFunctions{RG_METRIC_LIST(RG_METRIC_FUNCTION)};
#undef RG_METRIC_FUNCTION

}  // namespace

std::span<const MetricInfo> metrics() { return kMetrics; }

const MetricInfo& info_of(Metric metric) { return kMetrics.at(static_cast<std::size_t>(metric)); }

std::vector<Metric> all_metrics() {
  std::vector<Metric> all;
  for (const MetricInfo& info : kMetrics) all.push_back(info.metric);
  return all;
}

Figure measure(Metric metric, const MetricInput& input) {
  return kFunctions.at(static_cast<std::size_t>(metric))(input);
}

}  // namespace roentgen::eval
