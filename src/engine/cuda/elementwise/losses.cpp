// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of the two losses to a plan.
#include "graph/ops/losses.h"

#include <cstring>

#include "engine/cuda/elementwise/loss_kernels.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {
namespace {
// Number of inputs before those of auxiliary classifiers: logits, labels and mask.
constexpr std::size_t kLossInputs = 3;

struct Head {
  graph::NodeId logits;
  double weight;
};
// Heads of the loss: all heads in training, the first one in inference.
template <typename LossOp>
std::vector<Head> heads_of(const LossOp& op, const graph::Node& node, const Lowering& lowering) {
  std::vector<Head> heads{{node.inputs[0], 1.0}};
  if (!lowering.is_training()) return heads;
  for (std::size_t i = 0; i < op.auxiliary_weights.size(); ++i) {
    heads.push_back({node.inputs[kLossInputs + i], op.auxiliary_weights[i]});
  }
  return heads;
}

// LossTerms without addresses, and the tensors that provide the addresses.
struct Terms {
  LossTerms terms;
  TensorId labels = -1;
  TensorId mask = -1;
  TensorId positive_weights = -1;

  [[nodiscard]] LossTerms at(const Addresses& addresses) const {
    LossTerms bound = terms;
    bound.labels = addresses.f32(labels);
    bound.mask = addresses.f32(mask);
    if (positive_weights >= 0) bound.positive_weights = addresses.f64(positive_weights);
    return bound;
  }
};

void add_options(const graph::SigmoidCrossEntropy& op, const graph::Node& node, Terms& work, Lowering& lowering) {
  if (op.positive_weights.empty()) return;
  std::vector<std::byte> bytes(op.positive_weights.size() * sizeof(double));
  std::memcpy(bytes.data(), op.positive_weights.data(), bytes.size());
  work.positive_weights = lowering.constant(node.name + "/positive_weights", std::move(bytes));
}
void add_options(const graph::SoftmaxCrossEntropy& op, const graph::Node&, Terms& work, Lowering&) {
  work.terms.is_softmax = true;
  work.terms.label_smoothing = op.label_smoothing;
}

template <typename LossOp>
Terms terms_of(const LossOp& op, const graph::Node& node, Lowering& lowering) {
  const Shape& shape = lowering.value(node.inputs[0]).shape;
  Terms work{.terms = {.N = shape[0],
                       .K = shape[1],
                       .reduction = static_cast<graph::Reduction>(op.reduction),
                       .is_partial = op.is_partial},
             .labels = lowering.value(node.inputs[1]).tensor,
             .mask = lowering.value(node.inputs[2]).tensor};
  add_options(op, node, work, lowering);
  return work;
}

template <typename LossOp>
void lower_loss(const LossOp& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Terms work = terms_of(op, node, lowering);
  const TensorId result = lowering.define(id, Layout{}).tensor;
  const TensorId scale = lowering.scratch(node.name + "/scale", sizeof(double));
  lowering.kept_by_forward(id) = scale;
  Emission emission{.what = "forward",
                    .kind = "loss_forward",
                    .reads = {work.labels, work.mask},
                    .writes = {result, scale},
                    .implementation = "double"};
  std::vector<std::pair<TensorId, double>> heads;
  for (const auto& [logits, weight] : heads_of(op, node, lowering)) {
    heads.emplace_back(lowering.value(logits).tensor, weight);
    emission.reads.push_back(heads.back().first);
  }
  lowering.emit(node, std::move(emission), make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  LossHeads bound{.at = {}, .count = static_cast<int>(heads.size())};
                  for (std::size_t i = 0; i < heads.size(); ++i) {
                    bound.at[i] = {at.f32(heads[i].first), heads[i].second};
                  }
                  return [=, terms = work.at(at), value = at.f32(result), over = at.f64(scale)] {
                    loss(*stream, terms, bound, value, over);
                  };
                }));
}

template <typename LossOp>
void lower_loss_backward(const LossOp& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Terms work = terms_of(op, node, lowering);
  const TensorId scale = lowering.kept_by_forward(id);
  for (const auto& [logits, weight] : heads_of(op, node, lowering)) {
    const TensorId values = lowering.value(logits).tensor;
    const Located gradient = lowering.gradient_tensor(logits, Layout{});
    lowering.emit(node,
                  {.what = "backward",
                   .kind = "loss_backward",
                   .pass = Pass::BackwardData,
                   .reads = {values, work.labels, work.mask, scale, lowering.step_state()},
                   .writes = {gradient.tensor},
                   .implementation = "double"},
                  make_kernel([=, stream = lowering.stream(), state = lowering.step_state()](const Addresses& at) {
                    return [=, terms = work.at(at), head = LossHead{at.f32(values), weight}, over = at.f64(scale),
                            numbers = reinterpret_cast<const StepState*>(at.bytes(state)),
                            to = at.f32(gradient.tensor)] { loss_gradient(*stream, terms, head, over, numbers, to); };
                  }));
    lowering.contribute(logits, gradient);
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

}  // namespace roentgen::engine::cuda
