// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of fully connected layers, which run as 1x1 convolutions of 1x1 images. Features are converted
// to the compute type, with padded channels, and results are converted back to f32.
#include "graph/ops/linear.h"

#include "engine/cuda/conv/conv_pass.h"

namespace roentgen::engine::cuda {
namespace {
WeightShape weights_of(const graph::Linear& op, const Shape& src) {
  return {.out_channels = op.out_features,
          .channels = src[1],
          .padded_out_channels = padded(op.out_features),
          .padded_channels = padded(src[1])};
}

ConvProblem problem_of(ConvPass pass, const graph::Linear& op, const Shape& src, const Lowering& lowering) {
  return {.pass = pass,
          .dtype = lowering.dtype(),
          .may_round_to_tf32 = lowering.rounds_to_tf32(),
          .images = src[0],
          .channels = padded(src[1]),
          .out_channels = padded(op.out_features)};
}

// Adds an entry that converts features (N, K) to images (N, K, 1, 1) in `layout`.
Located as_image(const graph::Node& node, Located features, Layout layout, Lowering& lowering) {
  features.shape = {features.shape[0], features.shape[1], 1, 1};
  return lowering.reordered(node, features, layout);
}
// Adds an entry that converts images (N, K, 1, 1) to plain features (N, K).
Located as_features(const graph::Node& node, const Located& image, Lowering& lowering) {
  Located features = lowering.reordered(node, image, Layout{});
  features.shape = {features.shape[0], features.shape[1]};
  return features;
}
Located packed(const std::string& name, std::int64_t rows, std::int64_t features, Lowering& lowering) {
  return lowering.tensor(name, {rows, features, 1, 1}, lowering.image_layout());
}
}  // namespace

void lower(const graph::Linear& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value(node.inputs[0]);
  lowering.parameter_layout(node, "weight") = weights_layout(weights_of(op, src.shape));
  const Located image = as_image(node, src, lowering.image_layout(), lowering);
  if (lowering.needs_gradient(id)) lowering.kept_by_forward(id) = image.tensor;
  const Located dst = packed(node.name + "/packed", src.shape[0], op.out_features, lowering);
  emit_pass(node, "linear", problem_of(ConvPass::Forward, op, src.shape, lowering),
            {.src = image.tensor, .weights = lowering.compute_weights(node, "weight"), .dst = dst.tensor}, lowering);
  if (op.bias) emit_bias(id, dst, lowering);
  lowering.define_as(id, as_features(node, dst, lowering));
}

void lower_backward(const graph::Linear& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const graph::NodeId input = node.inputs[0];
  const Shape src = lowering.value(input).shape;
  const Located diff_dst = as_image(node, lowering.gradient(id, Layout{}), lowering.image_layout(), lowering);
  emit_weight_gradient(node, "linear", problem_of(ConvPass::WeightGradient, op, src, lowering), weights_of(op, src),
                       {.src = lowering.kept_by_forward(id), .dst = diff_dst.tensor}, lowering);
  if (op.bias) emit_bias_gradient(node, diff_dst, lowering);
  if (!lowering.needs_gradient(input)) return;
  const Located diff_src = packed("d:" + lowering.node(input).name + "/packed", src[0], src[1], lowering);
  emit_pass(node, "linear", problem_of(ConvPass::DataGradient, op, src, lowering),
            {.src = diff_src.tensor, .weights = lowering.compute_weights(node, "weight"), .dst = diff_dst.tensor},
            lowering);
  lowering.contribute(input, as_features(node, diff_src, lowering));
}

}  // namespace roentgen::engine::cuda
