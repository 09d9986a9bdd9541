// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/temperature.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/error.h"

namespace roentgen::eval {
namespace {
constexpr double kTolerance = 1e-10;
constexpr int kMaxSteps = 200;
// Largest probability that is used. It replaces 1, which a float32 sigmoid gives for all logits above 17.3.
constexpr double kLargest = 1.0 - 0x1p-25;
constexpr double kSmallest = static_cast<double>(std::numeric_limits<float>::min());

double clipped(float probability) { return std::clamp(static_cast<double>(probability), kSmallest, kLargest); }

double sigmoid_logit(float probability) {
  const double p = clipped(probability);
  return std::log(p) - std::log1p(-p);
}

double sigmoid(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

// First and second derivative of the summed negative log-likelihood with respect to b = 1 / T.
struct Slope {
  double first = 0.0;
  double second = 0.0;
};

// Inputs of the likelihood: logits (rows, width) and the true label of each row. Independent outputs give rows of width
// 1 with truth 0 or 1. Exclusive outputs give rows of width K with the index of the true label.
struct Terms {
  std::size_t width = 1;
  std::vector<double> logits{};
  std::vector<std::size_t> truth{};
};

Terms independent_terms(const Predictions& predictions) {
  Terms terms;
  for (std::size_t i = 0; i < predictions.labels.size(); ++i) {
    if (predictions.labels[i] == kUnknown) continue;
    terms.logits.push_back(sigmoid_logit(predictions.probabilities[i]));
    terms.truth.push_back(static_cast<std::size_t>(predictions.labels[i]));
  }
  return terms;
}

Terms exclusive_terms(const Predictions& predictions) {
  Terms terms{.width = predictions.label_names.size()};
  for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
    const auto row = std::span(predictions.labels).subspan(i * terms.width, terms.width);
    if (std::ranges::count(row, std::int8_t{1}) != 1) continue;
    terms.truth.push_back(static_cast<std::size_t>(std::ranges::find(row, std::int8_t{1}) - row.begin()));
    for (const float p : std::span(predictions.probabilities).subspan(i * terms.width, terms.width)) {
      terms.logits.push_back(std::log(std::max(static_cast<double>(p), kSmallest)));
    }
  }
  return terms;
}

Slope independent_slope(const Terms& terms, double inverse) {
  Slope slope;
  for (std::size_t i = 0; i < terms.truth.size(); ++i) {
    const double z = terms.logits[i];
    const double p = sigmoid(inverse * z);
    slope.first += z * (p - static_cast<double>(terms.truth[i]));
    slope.second += z * z * p * (1.0 - p);
  }
  return slope;
}

// Derivatives for softmax: d/db is E[z] - z_true, d2/db2 is the variance of z, under the scaled probabilities.
Slope exclusive_slope(const Terms& terms, double inverse) {
  Slope slope;
  for (std::size_t i = 0; i < terms.truth.size(); ++i) {
    const auto row = std::span(terms.logits).subspan(i * terms.width, terms.width);
    const double largest = *std::ranges::max_element(row);
    double sum = 0.0;
    double mean = 0.0;
    double square = 0.0;
    for (const double z : row) {
      const double weight = std::exp(inverse * (z - largest));
      sum += weight;
      mean += weight * z;
      square += weight * z * z;
    }
    mean /= sum;
    slope.first += mean - row[terms.truth[i]];
    slope.second += square / sum - mean * mean;
  }
  return slope;
}

// Finds the root of an increasing derivative that changes its sign between low and high.
template <typename SlopeOf>
double find_root(double low, double high, SlopeOf slope_of) {
  double at = std::clamp(1.0, low, high);
  for (int i = 0; i < kMaxSteps && high - low > kTolerance * low; ++i) {
    const Slope slope = slope_of(at);
    (slope.first > 0.0 ? high : low) = at;
    const double step = slope.second > 0.0 ? slope.first / slope.second : 0.0;
    const double newton = at - step;
    const bool is_inside = slope.second > 0.0 && newton > low && newton < high;
    const double next = is_inside ? newton : 0.5 * (low + high);
    if (is_inside && std::abs(next - at) <= kTolerance * at) return next;
    at = next;
  }
  return at;
}

}  // namespace

bool are_probabilities(const Predictions& predictions) {
  return std::ranges::all_of(predictions.probabilities, [](float p) { return p >= 0.0F && p <= 1.0F; });
}

Figure fit_temperature(const Predictions& validation) {
  check_predictions(validation);
  if (!are_probabilities(validation)) return undefined(kNoProbabilities);
  const bool is_exclusive = validation.outputs == Outputs::Exclusive;
  const Terms terms = is_exclusive ? exclusive_terms(validation) : independent_terms(validation);
  if (terms.truth.empty()) return undefined(kNoImages);
  const auto slope_of = [&](double inverse) {
    return is_exclusive ? exclusive_slope(terms, inverse) : independent_slope(terms, inverse);
  };
  constexpr double kLow = 1.0 / kMaxTemperature;
  constexpr double kHigh = 1.0 / kMinTemperature;
  if (slope_of(kLow).first >= 0.0 || slope_of(kHigh).first <= 0.0) return undefined(kNoTemperature);
  return {.value = 1.0 / find_root(kLow, kHigh, slope_of)};
}

Predictions scaled_by(const Predictions& predictions, double temperature) {
  RG_ASSERT(temperature > 0.0 && are_probabilities(predictions));
  Predictions scaled = predictions;
  if (predictions.outputs == Outputs::Independent) {
    for (float& p : scaled.probabilities) p = static_cast<float>(sigmoid(sigmoid_logit(p) / temperature));
    return scaled;
  }
  const std::size_t K = predictions.label_names.size();
  std::vector<double> weights(K);
  for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
    const auto row = std::span(scaled.probabilities).subspan(i * K, K);
    const double largest = std::log(std::max(static_cast<double>(*std::ranges::max_element(row)), kSmallest));
    double sum = 0.0;
    for (std::size_t k = 0; k < K; ++k) {
      const double logit = std::log(std::max(static_cast<double>(row[k]), kSmallest));
      weights[k] = std::exp((logit - largest) / temperature);
      sum += weights[k];
    }
    for (std::size_t k = 0; k < K; ++k) row[k] = static_cast<float>(weights[k] / sum);
  }
  return scaled;
}

}  // namespace roentgen::eval
