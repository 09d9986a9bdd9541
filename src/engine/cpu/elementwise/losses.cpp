// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of the two losses to a plan. The work is small: one thread, in double precision.
#include "graph/ops/losses.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {
namespace {
// Number of inputs before those of auxiliary classifiers: logits, labels and mask.
constexpr std::size_t kLossInputs = 3;

// Logits (N, K) of one head, and the weight of its loss.
struct Head {
  TensorId tensor = -1;
  double weight = 1.0;
  const float* logits = nullptr;
};

enum class Direction { Forward, Backward };

// Addresses and sizes of a loss computation. Forward computes all heads at once, backward a single head.
struct LossWork {
  Direction direction = Direction::Forward;
  std::vector<Head> heads;
  TensorId labels = -1;
  TensorId mask = -1;
  TensorId result = -1;  // loss or diff_logits
  std::int64_t N = 0;
  std::int64_t K = 0;
};

struct LossData {
  const float* labels = nullptr;
  const float* mask = nullptr;
  float* result = nullptr;
};

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid(double x) { return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x)); }

// Divisor of the sum of terms. Returns 1 instead of 0 if no label is known: the loss is then 0, without a gradient.
template <typename LossOp>
double divisor(const LossOp& op, const float* mask, std::int64_t N, std::int64_t columns) {
  const auto reduction = static_cast<graph::Reduction>(op.reduction);
  if (reduction == graph::Reduction::Sum) return 1.0;
  if (op.is_partial) return static_cast<double>(reduction == graph::Reduction::MeanBatch ? N : N * columns);
  double known = 0.0;
  for (std::int64_t n = 0; n < N; ++n) {
    double row = 0.0;
    for (std::int64_t k = 0; k < columns; ++k) row += static_cast<double>(mask[n * columns + k]);
    known += reduction == graph::Reduction::MeanBatch ? (row > 0.0 ? 1.0 : 0.0) : row;
  }
  return known > 0.0 ? known : 1.0;
}

// Forward: adds the head's weighted loss to `sum`. Backward: writes the gradient for the head, multiplied by `scale`.
void add_head(const graph::SigmoidCrossEntropy& op, const LossWork& work, const LossData& data, const Head& head,
              double scale, double& sum) {
  double terms = 0.0;
  for (std::int64_t i = 0; i < work.N * work.K; ++i) {
    const double m = data.mask[i];
    const double z = head.logits[i];
    const double t = m > 0.0 ? static_cast<double>(data.labels[i]) : 0.0;
    const double p = op.positive_weights.empty() ? 1.0 : op.positive_weights[static_cast<std::size_t>(i % work.K)];
    if (work.direction == Direction::Forward) {
      if (m > 0.0) terms += m * (p * t * softplus(-z) + (1.0 - t) * softplus(z));
    } else {
      const double s = sigmoid(z);
      const double slope = (1.0 - t) * s - p * t * (1.0 - s);
      data.result[i] = m > 0.0 ? static_cast<float>(m * slope * scale) : 0.0F;
    }
  }
  sum += head.weight * terms;
}

double row_of(const graph::SoftmaxCrossEntropy& op, const LossWork& work, const LossData& data, const float* z,
              std::int64_t n, double scale) {
  const double m = data.mask[n];
  const double highest = *std::max_element(z, z + work.K);
  double total = 0.0;
  for (std::int64_t k = 0; k < work.K; ++k) total += std::exp(static_cast<double>(z[k]) - highest);
  const double log_total = std::log(total) + highest;
  const auto label = m > 0.0 ? static_cast<std::int64_t>(data.labels[n]) : -1;
  const double even = op.label_smoothing / static_cast<double>(work.K);
  double sum = 0.0;
  for (std::int64_t k = 0; k < work.K; ++k) {
    const double q = even + (k == label ? 1.0 - op.label_smoothing : 0.0);
    const double log_p = static_cast<double>(z[k]) - log_total;
    if (work.direction == Direction::Backward) {
      data.result[n * work.K + k] = m > 0.0 ? static_cast<float>(m * (std::exp(log_p) - q) * scale) : 0.0F;
    } else if (m > 0.0) {
      sum -= m * q * log_p;
    }
  }
  return sum;
}

void add_head(const graph::SoftmaxCrossEntropy& op, const LossWork& work, const LossData& data, const Head& head,
              double scale, double& sum) {
  for (std::int64_t n = 0; n < work.N; ++n) {
    sum += head.weight * row_of(op, work, data, head.logits + n * work.K, n, scale);
  }
}

template <typename LossOp>
class LossKernel final : public Kernel {
 public:
  LossKernel(const LossOp& op, const LossWork& work) : op_(op), work_(work) {}
  void bind(const Addresses& addresses) override {
    for (Head& head : work_.heads) head.logits = addresses.f32(head.tensor);
    data_ = {addresses.f32(work_.labels), addresses.f32(work_.mask), addresses.f32(work_.result)};
  }
  void run() override {
    constexpr bool has_mask_by_row = std::is_same_v<LossOp, graph::SoftmaxCrossEntropy>;
    const std::int64_t columns = has_mask_by_row ? 1 : work_.K;
    const double scale = 1.0 / divisor(op_, data_.mask, work_.N, columns);
    double sum = 0.0;
    for (const Head& head : work_.heads) add_head(op_, work_, data_, head, head.weight * scale, sum);
    if (work_.direction == Direction::Forward) data_.result[0] = static_cast<float>(sum * scale);
  }

 private:
  LossOp op_;
  LossWork work_;
  LossData data_;
};

// Logits of the loss: of all heads in training, of the first head in inference.
template <typename LossOp>
std::vector<graph::NodeId> logits_of(const LossOp& op, const graph::Node& node, const Lowering& lowering) {
  std::vector<graph::NodeId> logits{node.inputs[0]};
  if (!lowering.is_training()) return logits;
  for (std::size_t i = 0; i < op.auxiliary_weights.size(); ++i) logits.push_back(node.inputs[kLossInputs + i]);
  return logits;
}

template <typename LossOp>
double weight_of(const LossOp& op, std::size_t head) {
  return head == 0 ? 1.0 : op.auxiliary_weights[head - 1];
}

LossWork work_of(const graph::Node& node, Direction direction, const Lowering& lowering) {
  const Shape& shape = lowering.value(node.inputs[0]).shape;
  return {.direction = direction,
          .heads = {},
          .labels = lowering.value(node.inputs[1]).tensor,
          .mask = lowering.value(node.inputs[2]).tensor,
          .N = shape[0],
          .K = shape[1]};
}

template <typename LossOp>
void lower_loss(const LossOp& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  LossWork work = work_of(node, Direction::Forward, lowering);
  std::vector<TensorId> reads{work.labels, work.mask};
  for (const graph::NodeId logits : logits_of(op, node, lowering)) {
    const TensorId tensor = lowering.value(logits).tensor;
    work.heads.push_back({.tensor = tensor, .weight = weight_of(op, work.heads.size())});
    reads.push_back(tensor);
  }
  const Located result = lowering.define(id, Layout{});
  work.result = result.tensor;
  lowering.emit_forward(id, "loss", std::move(reads), result,
                        {std::make_unique<LossKernel<LossOp>>(op, work), "double"});
}

template <typename LossOp>
void lower_loss_backward(const LossOp& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  std::size_t head = 0;
  for (const graph::NodeId logits : logits_of(op, node, lowering)) {
    Located result = lowering.value(logits);
    LossWork work = work_of(node, Direction::Backward, lowering);
    work.heads.push_back({.tensor = result.tensor, .weight = weight_of(op, head++)});
    result = lowering.gradient_tensor(logits, Layout{});
    work.result = result.tensor;
    lowering.emit(node,
                  {.what = "backward",
                   .kind = "loss_backward",
                   .pass = Pass::BackwardData,
                   .reads = {work.heads[0].tensor, work.labels, work.mask},
                   .writes = {work.result},
                   .implementation = "double"},
                  std::make_unique<LossKernel<LossOp>>(op, work));
    lowering.contribute(logits, result);
  }
}
}  // namespace

void lower(const graph::SigmoidCrossEntropy& op, graph::NodeId id, Lowering& lowering) { lower_loss(op, id, lowering); }
void lower_backward(const graph::SigmoidCrossEntropy& op, graph::NodeId id, Lowering& lowering) {
  lower_loss_backward(op, id, lowering);
}
void lower(const graph::SoftmaxCrossEntropy& op, graph::NodeId id, Lowering& lowering) { lower_loss(op, id, lowering); }
void lower_backward(const graph::SoftmaxCrossEntropy& op, graph::NodeId id, Lowering& lowering) {
  lower_loss_backward(op, id, lowering);
}

}  // namespace roentgen::engine::cpu
