// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares every metric with scikit-learn's on the same samples: tests/golden/metrics.csv, written by
// tools/peers/metrics_sklearn.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>

#include "eval/calibration.h"
#include "eval/confusion.h"
#include "eval/precision_recall.h"
#include "eval/score_testing.h"
#include "eval/temperature.h"
#include "eval/top_k.h"

namespace roentgen::eval {
namespace {

// Rounding error of sums in double of at most 200 terms near 1.
constexpr double kGoldenTolerance = 1e-12;
// Tolerance for the temperature: scipy's search uses only function values, so it stops within this distance of the flat
// minimum.
constexpr double kTemperatureTolerance = 1e-6;

using Values = std::map<std::string, double>;

struct GoldenCase {
  std::string name;
  double threshold = 0.0;
  Values values;
  ScoredSamples samples;
};

struct Golden {
  std::vector<GoldenCase> cases;
  Predictions softmax;
  Values softmax_values;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

float to_float(const std::string& text) { return std::strtof(text.c_str(), nullptr); }

void append_softmax_row(const std::vector<std::string>& fields, Predictions& softmax) {
  const std::size_t truth = std::stoul(fields.at(0));
  for (std::size_t k = 0; k + 1 < fields.size(); ++k) {
    softmax.probabilities.push_back(to_float(fields[k + 1]));
    softmax.labels.push_back(k == truth ? 1 : 0);
  }
  softmax.image_ids.push_back(std::to_string(softmax.image_ids.size()));
  softmax.patients.push_back(std::ssize(softmax.patients));
}

Golden read_golden() {
  const char* root = std::getenv("ROENTGEN_SOURCE_DIR");
  std::ifstream file(std::filesystem::path(root != nullptr ? root : ".") / "tests/golden/metrics.csv");
  Golden golden;
  bool is_softmax = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split(line);
    if (fields[0] == "case") {
      golden.cases.push_back({.name = fields.at(1), .threshold = to_float(fields.at(3))});
    } else if (fields[0] == "softmax") {
      is_softmax = true;
      golden.softmax.outputs = Outputs::Exclusive;
      for (int k = 0; k < std::stoi(fields.at(2)); ++k) golden.softmax.label_names.push_back(std::to_string(k));
    } else if (fields[0] == "value") {
      (is_softmax ? golden.softmax_values : golden.cases.back().values)[fields.at(1)] = std::stod(fields.at(2));
    } else if (is_softmax) {
      append_softmax_row(fields, golden.softmax);
    } else {
      ScoredSamples& samples = golden.cases.back().samples;
      samples.scores.push_back(to_float(fields.at(0)));
      samples.labels.push_back(static_cast<std::uint8_t>(std::stoi(fields.at(1))));
      samples.multiplicity.push_back(static_cast<std::uint32_t>(std::stoul(fields.at(2))));
    }
  }
  return golden;
}

// Returns our metrics under the names in the golden file; NaN if undefined.
Values figures(const GoldenCase& golden) {
  const Counted counted(golden.samples);
  const ScoreCounts& counts = counted.counts;
  const ScoreCounts weighted = resampled(counted.ranked, golden.samples);
  const Confusion confusion = confusion_at(counts, golden.threshold);
  const auto best = [&](ThresholdRule rule) { return confusion_at(counts, choose_threshold(counts, rule).value()); };
  const Confusion youden = best(ThresholdRule::Youden);
  return {{"auroc", counted.ranked.auroc().value()},
          {"weighted_auroc", counted.ranked.auroc(golden.samples.multiplicity).value()},
          {"auprc", average_precision(counts).value},
          {"weighted_auprc", average_precision(weighted).value},
          {"brier", brier(counts).value},
          {"weighted_brier", brier(weighted).value},
          {"ece", expected_calibration_error(counts).value},
          {"weighted_ece", expected_calibration_error(weighted).value},
          {"f1", f1(confusion).value},
          {"weighted_f1", f1(confusion_at(weighted, golden.threshold)).value},
          {"sensitivity", sensitivity(confusion).value},
          {"specificity", specificity(confusion).value},
          {"ppv", positive_predictive_value(confusion).value},
          {"npv", negative_predictive_value(confusion).value},
          {"best_f1", f1(best(ThresholdRule::MaxF1)).value},
          {"best_youden", sensitivity(youden).value + specificity(youden).value - 1.0},
          {"sensitivity_at_specificity_90", sensitivity_at_specificity(counts, 0.90).value},
          {"sensitivity_at_specificity_95", sensitivity_at_specificity(counts, 0.95).value},
          {"specificity_at_sensitivity_90", specificity_at_sensitivity(counts, 0.90).value},
          {"specificity_at_sensitivity_95", specificity_at_sensitivity(counts, 0.95).value}};
}

TEST(Metrics, agree_with_scikit_learn) {
  const Golden golden = read_golden();
  ASSERT_EQ(golden.cases.size(), 6U);
  for (const GoldenCase& one : golden.cases) {
    const Values ours = figures(one);
    for (const auto& [key, value] : one.values) {
      if (key == "temperature") continue;
      ASSERT_TRUE(ours.contains(key)) << key;
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(ours.at(key))) << one.name << " " << key;
      } else {
        EXPECT_NEAR(ours.at(key), value, kGoldenTolerance) << one.name << " " << key;
      }
    }
  }
}

TEST(Metrics, temperature_agrees_with_a_search_over_scikit_learns_log_loss) {
  const Golden golden = read_golden();
  const GoldenCase& one = golden.cases.at(0);
  Predictions predictions{.label_names = {"Mass"}, .probabilities = one.samples.scores};
  predictions.labels.assign(one.samples.labels.begin(), one.samples.labels.end());
  for (std::size_t i = 0; i < one.samples.size(); ++i) predictions.image_ids.push_back(std::to_string(i));
  predictions.patients.resize(one.samples.size());
  EXPECT_NEAR(fit_temperature(predictions).value, one.values.at("temperature"), kTemperatureTolerance);
  EXPECT_NEAR(fit_temperature(golden.softmax).value, golden.softmax_values.at("temperature"), kTemperatureTolerance);
}

TEST(Metrics, top_k_agrees_with_scikit_learn_where_there_are_no_ties) {
  const Golden golden = read_golden();
  for (const std::int64_t k : {1, 5}) {
    const std::vector<double> credits = top_k_credits(golden.softmax, k);
    const double mean = std::accumulate(credits.begin(), credits.end(), 0.0) / static_cast<double>(credits.size());
    EXPECT_NEAR(mean, golden.softmax_values.at("top_" + std::to_string(k)), kGoldenTolerance);
  }
}

}  // namespace
}  // namespace roentgen::eval
