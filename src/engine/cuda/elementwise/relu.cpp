// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of a ReLU that is not fused into a batch norm or the addition of a bias.
#include "graph/ops/relu.h"

#include <utility>

#include "engine/cuda/conv/conv_pass.h"
#include "engine/cuda/elementwise/relu_bias.h"
#include "engine/cuda/norm/batch_norm_entries.h"

namespace roentgen::engine::cuda {
namespace {

// Adds the entry that computes the gradient before the ReLU and that of the bias. See sums_bias_gradient().
void emit_relu_bias_gradient(graph::NodeId id, const Located& dst, const Located& diff_dst, const Located& diff_src,
                             Lowering& lowering) {
  const graph::NodeId layer = lowering.node(id).inputs[0];
  const TensorId sums = lowering.parameter_gradient(lowering.node(layer), "bias");
  const NormShape shape = norm_shape(dst, lowering);
  Emission emission{.what = "backward",
                    .kind = "relu_backward",
                    .pass = Pass::BackwardData,
                    .reads = {dst.tensor, diff_dst.tensor},
                    .writes = {diff_src.tensor, sums},
                    .implementation = "relu+bias",
                    .in_place = {{diff_dst.tensor, diff_src.tensor}}};
  const SumScratch scratch =
      add_scratch(lowering.node(id), norm_partials(shape), norm_counters(shape), emission, lowering);
  lowering.emit(lowering.node(id), std::move(emission),
                make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  const ReluBias work{.y = at.bytes(dst.tensor),
                                      .dy = at.bytes(diff_dst.tensor),
                                      .dx = at.bytes(diff_src.tensor),
                                      .sums = at.f32(sums)};
                  return [=, memory = scratch_at(at, scratch)] { relu_bias_gradient(*stream, shape, work, memory); };
                }));
  lowering.contribute(layer, diff_src);
}

}  // namespace

void lower(const graph::Relu&, graph::NodeId id, Lowering& lowering) {
  const Located src = lowering.value(lowering.node(id).inputs[0]);
  if (acts_with_bias(id, lowering)) return lowering.define_as(id, src);
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "relu", {src.tensor}, dst, lowering.flat(FlatOp::Relu, src.tensor, -1, dst), src.tensor);
}

void lower_backward(const graph::Relu&, graph::NodeId id, Lowering& lowering) {
  const Located dst = lowering.value(id);
  const Located diff_dst = lowering.gradient(id, dst.layout);
  const Located diff_src = lowering.gradient_tensor(lowering.node(id).inputs[0], dst.layout);
  if (sums_bias_gradient(id, lowering)) return emit_relu_bias_gradient(id, dst, diff_dst, diff_src, lowering);
  lowering.emit_backward(id, "relu", {dst.tensor, diff_dst.tensor}, diff_src,
                         lowering.flat(FlatOp::ReluBackward, dst.tensor, diff_dst.tensor, diff_src), diff_dst.tensor);
}

}  // namespace roentgen::engine::cuda
