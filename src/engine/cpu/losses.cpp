// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of the two losses. Small: one thread, double precision.
#include "graph/ops/losses.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/lowering.h"

namespace roentgen::engine::cpu {
namespace {
// Addresses and sizes of a loss over (N, K) logits.
struct LossWork {
  TensorId logits = -1;
  TensorId labels = -1;
  TensorId mask = -1;
  TensorId result = -1;  // loss, or diff_logits
  std::int64_t N = 0;
  std::int64_t K = 0;
};

struct LossData {
  const float* logits = nullptr;
  const float* labels = nullptr;
  const float* mask = nullptr;
  float* result = nullptr;
};

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid(double x) { return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x)); }

// What the sum of terms is divided by; 1 where that would be 0 (nothing known: loss 0, no gradient).
double divisor(const graph::Reduction reduction, const float* mask, std::int64_t N, std::int64_t columns) {
  if (reduction == graph::Reduction::Sum) return 1.0;
  double known = 0.0;
  for (std::int64_t n = 0; n < N; ++n) {
    double row = 0.0;
    for (std::int64_t k = 0; k < columns; ++k) row += static_cast<double>(mask[n * columns + k]);
    known += reduction == graph::Reduction::MeanBatch ? (row > 0.0 ? 1.0 : 0.0) : row;
  }
  return known > 0.0 ? known : 1.0;
}

enum class Direction { Forward, Backward };

class SigmoidLoss final : public Kernel {
 public:
  SigmoidLoss(const graph::SigmoidCrossEntropy& op, const LossWork& work, Direction direction)
      : op_(op), work_(work), direction_(direction) {}
  void bind(const Addresses& addresses) override {
    data_ = {addresses.f32(work_.logits), addresses.f32(work_.labels), addresses.f32(work_.mask),
             addresses.f32(work_.result)};
  }
  void run() override {
    const double scale = 1.0 / divisor(static_cast<graph::Reduction>(op_.reduction), data_.mask, work_.N, work_.K);
    double sum = 0.0;
    for (std::int64_t i = 0; i < work_.N * work_.K; ++i) {
      const double m = data_.mask[i];
      const double z = data_.logits[i];
      const double t = m > 0.0 ? static_cast<double>(data_.labels[i]) : 0.0;
      const double p = op_.positive_weights.empty() ? 1.0 : op_.positive_weights[static_cast<std::size_t>(i % work_.K)];
      if (direction_ == Direction::Forward) {
        if (m > 0.0) sum += m * (p * t * softplus(-z) + (1.0 - t) * softplus(z));
      } else {
        const double s = sigmoid(z);
        const double slope = (1.0 - t) * s - p * t * (1.0 - s);
        data_.result[i] = m > 0.0 ? static_cast<float>(m * slope * scale) : 0.0F;
      }
    }
    if (direction_ == Direction::Forward) data_.result[0] = static_cast<float>(sum * scale);
  }

 private:
  graph::SigmoidCrossEntropy op_;
  LossWork work_;
  Direction direction_;
  LossData data_;
};

class SoftmaxLoss final : public Kernel {
 public:
  SoftmaxLoss(const graph::SoftmaxCrossEntropy& op, const LossWork& work, Direction direction)
      : op_(op), work_(work), direction_(direction) {}
  void bind(const Addresses& addresses) override {
    data_ = {addresses.f32(work_.logits), addresses.f32(work_.labels), addresses.f32(work_.mask),
             addresses.f32(work_.result)};
  }
  void run() override {
    const double scale = 1.0 / divisor(static_cast<graph::Reduction>(op_.reduction), data_.mask, work_.N, 1);
    double sum = 0.0;
    for (std::int64_t n = 0; n < work_.N; ++n) sum += row(n, scale);
    if (direction_ == Direction::Forward) data_.result[0] = static_cast<float>(sum * scale);
  }

 private:
  double row(std::int64_t n, double scale) const {
    const float* z = data_.logits + n * work_.K;
    const double m = data_.mask[n];
    const double highest = *std::max_element(z, z + work_.K);
    double total = 0.0;
    for (std::int64_t k = 0; k < work_.K; ++k) total += std::exp(static_cast<double>(z[k]) - highest);
    const double log_total = std::log(total) + highest;
    const auto label = m > 0.0 ? static_cast<std::int64_t>(data_.labels[n]) : -1;
    const double even = op_.label_smoothing / static_cast<double>(work_.K);
    double sum = 0.0;
    for (std::int64_t k = 0; k < work_.K; ++k) {
      const double q = even + (k == label ? 1.0 - op_.label_smoothing : 0.0);
      const double log_p = static_cast<double>(z[k]) - log_total;
      if (direction_ == Direction::Backward) {
        data_.result[n * work_.K + k] = m > 0.0 ? static_cast<float>(m * (std::exp(log_p) - q) * scale) : 0.0F;
      } else if (m > 0.0) {
        sum -= m * q * log_p;
      }
    }
    return sum;
  }

  graph::SoftmaxCrossEntropy op_;
  LossWork work_;
  Direction direction_;
  LossData data_;
};

template <typename LossKernel, typename LossOp>
void lower_loss(const LossOp& op, graph::NodeId id, Lowering& lowering, Direction direction) {
  const graph::Node& node = lowering.graph().node(id);
  const Located logits = lowering.value(node.inputs[0]);
  LossWork work{.logits = logits.tensor,
                .labels = lowering.value(node.inputs[1]).tensor,
                .mask = lowering.value(node.inputs[2]).tensor,
                .N = logits.shape[0],
                .K = logits.shape[1]};
  const bool is_forward = direction == Direction::Forward;
  Located result = logits;
  if (is_forward) {
    result = lowering.define(id, Layout{});
  } else {
    result.tensor = lowering.tensor("d:" + lowering.graph().node(node.inputs[0]).name, logits.shape, Layout{});
  }
  work.result = result.tensor;
  lowering.emit(node,
                {.what = is_forward ? "forward" : "backward",
                 .kind = is_forward ? "loss_forward" : "loss_backward",
                 .pass = is_forward ? Pass::Forward : Pass::BackwardData,
                 .reads = {work.logits, work.labels, work.mask},
                 .writes = {work.result},
                 .implementation = "double"},
                std::make_unique<LossKernel>(op, work, direction));
  if (!is_forward) lowering.contribute(node.inputs[0], result);
}
}  // namespace

void lower(const graph::SigmoidCrossEntropy& op, graph::NodeId id, Lowering& lowering) {
  lower_loss<SigmoidLoss>(op, id, lowering, Direction::Forward);
}
void lower_backward(const graph::SigmoidCrossEntropy& op, graph::NodeId id, Lowering& lowering) {
  lower_loss<SigmoidLoss>(op, id, lowering, Direction::Backward);
}
void lower(const graph::SoftmaxCrossEntropy& op, graph::NodeId id, Lowering& lowering) {
  lower_loss<SoftmaxLoss>(op, id, lowering, Direction::Forward);
}
void lower_backward(const graph::SoftmaxCrossEntropy& op, graph::NodeId id, Lowering& lowering) {
  lower_loss<SoftmaxLoss>(op, id, lowering, Direction::Backward);
}

}  // namespace roentgen::engine::cpu
