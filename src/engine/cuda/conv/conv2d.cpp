// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of convolutions to a plan.
#include "graph/ops/conv2d.h"

#include "engine/cuda/conv/conv_pass.h"
#include "engine/cuda/conv/stem.h"

namespace roentgen::engine::cuda {
namespace {
// Convolution pass and the layouts of its values. Grouped convolutions whose channel count is no multiple of the block
// use channels without padding.
struct Conv {
  ConvProblem problem;
  WeightShape weights;
  Layout src_layout;
  Layout layout;  // layout of the result
  bool is_stem = false;
};

Conv conv_of(const graph::Conv2d& op, graph::NodeId id, const Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Shape& src = lowering.node(node.inputs[0]).shape;
  Layout layout = lowering.image_layout();
  const bool is_padded = src[1] % kChannelBlock != 0 || op.out_channels % kChannelBlock != 0;
  if (op.groups > 1 && is_padded) layout.block = 1;
  const bool is_first = is_stem(op, id, lowering);
  const Layout src_layout = is_first ? stem_image_layout() : layout;
  const std::int64_t channels = padded_channels(src, src_layout), out_channels = padded_channels(node.shape, layout);
  return {.problem = {.dtype = src_layout.dtype,
                      .may_round_to_tf32 = lowering.rounds_to_tf32(),
                      .images = src[0],
                      .channels = channels,
                      .size = {src[2], src[3]},
                      .out_channels = out_channels,
                      .kernel = {op.kernel.height, op.kernel.width},
                      .stride = {op.stride.height, op.stride.width},
                      .pad = {op.pad.height, op.pad.width},
                      .dilation = {op.dilation.height, op.dilation.width},
                      .groups = op.groups},
          .weights = {.out_channels = op.out_channels,
                      .channels = src[1] / op.groups,
                      .taps = op.kernel.height * op.kernel.width,
                      .padded_out_channels = out_channels,
                      .padded_channels = channels / op.groups},
          .src_layout = src_layout,
          .layout = layout,
          .is_stem = is_first};
}
}  // namespace

void lower(const graph::Conv2d& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Conv conv = conv_of(op, id, lowering);
  lowering.parameter_layout(node, "weight") = weights_layout(conv.weights);
  const Located src = lowering.image(node.inputs[0], conv.src_layout);
  const Located dst = lowering.define(id, conv.layout);
  if (conv.is_stem) {
    emit_stem(node, conv.problem, conv.weights, src, dst, lowering);
  } else {
    emit_pass(node, "conv2d", conv.problem,
              {.src = src.tensor, .weights = lowering.compute_weights(node, "weight"), .dst = dst.tensor}, lowering);
  }
  if (op.bias) emit_bias(id, dst, lowering);
}

void lower_backward(const graph::Conv2d& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const graph::NodeId input = node.inputs[0];
  Conv conv = conv_of(op, id, lowering);
  lowering.make_available(input);
  const Located src = lowering.image(input, conv.src_layout);
  const Located diff_dst = lowering.gradient(id, conv.layout);
  conv.problem.pass = ConvPass::WeightGradient;
  if (conv.is_stem) {
    emit_stem_weight_gradient(node, conv.problem, conv.weights, src, diff_dst, lowering);
  } else {
    emit_weight_gradient(node, "conv2d", conv.problem, conv.weights, {.src = src.tensor, .dst = diff_dst.tensor},
                         lowering);
  }
  const std::vector<graph::NodeId>& readers = lowering.readers(id);
  const bool is_summed = !readers.empty() && sums_bias_gradient(readers[0], lowering);
  if (op.bias && !is_summed) emit_bias_gradient(node, diff_dst, lowering);
  if (!lowering.needs_gradient(input)) return;
  const Located diff_src = lowering.gradient_tensor(input, conv.layout);
  conv.problem.pass = ConvPass::DataGradient;
  emit_pass(node, "conv2d", conv.problem,
            {.src = diff_src.tensor, .weights = lowering.compute_weights(node, "weight"), .dst = diff_dst.tensor},
            lowering);
  lowering.contribute(input, diff_src);
}

}  // namespace roentgen::engine::cuda
