// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <algorithm>
#include <cmath>

#include "engine/reference/ops.h"

namespace roentgen::engine::reference {
namespace {
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// Divisor of the sum of the terms. It is 1 if no label is known, so that the loss is 0. `mask` is (N, K) or (N, 1).
template <typename Loss>
double divisor(const Loss& op, const Array& mask) {
  if (op.reduction == static_cast<int>(graph::Reduction::Sum)) return 1.0;
  const std::int64_t N = mask.shape[0];
  const std::int64_t K = mask.shape[1];
  const bool is_by_label = op.reduction == static_cast<int>(graph::Reduction::MeanKnown);
  if (op.is_partial) return static_cast<double>(is_by_label ? N * K : N);
  double count = 0.0;
  for (std::int64_t n = 0; n < N; ++n) {
    double known = 0.0;
    for (std::int64_t k = 0; k < K; ++k) known += mask[n * K + k] > 0.0 ? 1.0 : 0.0;
    count += is_by_label ? known : std::min(known, 1.0);
  }
  return std::max(count, 1.0);
}

double positive_weight(const graph::SigmoidCrossEntropy& op, std::int64_t k) {
  return op.positive_weights.empty() ? 1.0 : op.positive_weights[static_cast<std::size_t>(k)];
}

/// Logarithm of the softmax of one row of logits.
std::vector<double> log_softmax(const Array& logits, std::int64_t n) {
  const std::int64_t K = logits.shape[1];
  const auto row = logits.data.begin() + n * K;
  const double largest = *std::max_element(row, row + K);
  double sum = 0.0;
  for (std::int64_t k = 0; k < K; ++k) sum += std::exp(row[k] - largest);
  std::vector<double> logs(row, row + K);
  for (double& value : logs) value -= largest + std::log(sum);
  return logs;
}

/// Target probability q_k = (1 - e) onehot_k + e / K, where e is the label smoothing.
double target(const graph::SoftmaxCrossEntropy& op, const Array& classes, std::int64_t n, std::int64_t k,
              std::int64_t K) {
  const bool is_class = static_cast<std::int64_t>(classes[n]) == k;
  return (is_class ? 1.0 - op.label_smoothing : 0.0) + op.label_smoothing / static_cast<double>(K);
}

/// A head of the loss: the index of its logits among the loss's inputs, and its weight.
struct Head {
  std::size_t input = 0;
  double weight = 1.0;
};

template <typename Loss>
std::vector<Head> heads_of(const Loss& op, const Scope& scope) {
  std::vector<Head> heads{{}};
  if (scope.form == Form::Inference) return heads;
  for (std::size_t i = 0; i < op.auxiliary_weights.size(); ++i) {
    heads.push_back({.input = 3 + i, .weight = op.auxiliary_weights[i]});
  }
  return heads;
}

double value(const graph::SigmoidCrossEntropy& op, const Array& z, const Scope& scope) {
  const Array& t = *scope.src[1];
  const Array& m = *scope.src[2];
  double sum = 0.0;
  for (std::int64_t i = 0; i < z.size(); ++i) {
    if (m[i] == 0.0) continue;
    const double p = positive_weight(op, i % z.shape[1]);
    sum += m[i] * (p * t[i] * softplus(-z[i]) + (1.0 - t[i]) * softplus(z[i]));
  }
  return sum / divisor(op, m);
}

void add_gradient(const graph::SigmoidCrossEntropy& op, const Head& head, Scope& scope) {
  const Array& z = *scope.src[head.input];
  const Array& t = *scope.src[1];
  const Array& m = *scope.src[2];
  const double factor = head.weight * (*scope.diff_dst)[0] / divisor(op, m);
  for (std::int64_t i = 0; i < z.size(); ++i) {
    if (m[i] == 0.0) continue;
    const double p = positive_weight(op, i % z.shape[1]);
    const double s = sigmoid(z[i]);
    (*scope.diff_src[head.input])[i] += factor * m[i] * ((1.0 - t[i]) * s - p * t[i] * (1.0 - s));
  }
}

double value(const graph::SoftmaxCrossEntropy& op, const Array& z, const Scope& scope) {
  const Array& m = *scope.src[2];
  const std::int64_t K = z.shape[1];
  double sum = 0.0;
  for (std::int64_t n = 0; n < z.shape[0]; ++n) {
    if (m[n] == 0.0) continue;
    const std::vector<double> logs = log_softmax(z, n);
    for (std::int64_t k = 0; k < K; ++k) {
      sum -= m[n] * target(op, *scope.src[1], n, k, K) * logs[static_cast<std::size_t>(k)];
    }
  }
  return sum / divisor(op, m);
}

void add_gradient(const graph::SoftmaxCrossEntropy& op, const Head& head, Scope& scope) {
  const Array& z = *scope.src[head.input];
  const Array& m = *scope.src[2];
  const std::int64_t K = z.shape[1];
  const double factor = head.weight * (*scope.diff_dst)[0] / divisor(op, m);
  for (std::int64_t n = 0; n < z.shape[0]; ++n) {
    if (m[n] == 0.0) continue;
    const std::vector<double> logs = log_softmax(z, n);
    for (std::int64_t k = 0; k < K; ++k) {
      const double p = std::exp(logs[static_cast<std::size_t>(k)]);
      (*scope.diff_src[head.input])[n * K + k] += factor * m[n] * (p - target(op, *scope.src[1], n, k, K));
    }
  }
}

template <typename Loss>
void forward_heads(const Loss& op, Scope& scope) {
  for (const Head& head : heads_of(op, scope)) {
    (*scope.dst)[0] += head.weight * value(op, *scope.src[head.input], scope);
  }
}

template <typename Loss>
void backward_heads(const Loss& op, Scope& scope) {
  for (const Head& head : heads_of(op, scope)) add_gradient(op, head, scope);
}
}  // namespace

void forward(const graph::SigmoidCrossEntropy& op, Scope& scope) { forward_heads(op, scope); }
void backward(const graph::SigmoidCrossEntropy& op, Scope& scope) { backward_heads(op, scope); }
void forward(const graph::SoftmaxCrossEntropy& op, Scope& scope) { forward_heads(op, scope); }
void backward(const graph::SoftmaxCrossEntropy& op, Scope& scope) { backward_heads(op, scope); }

}  // namespace roentgen::engine::reference
