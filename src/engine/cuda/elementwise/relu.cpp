// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of a ReLU that is not fused into a batch norm or the addition of a bias.
#include "graph/ops/relu.h"

#include "engine/cuda/conv/conv_pass.h"

namespace roentgen::engine::cuda {

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
  lowering.emit_backward(id, "relu", {dst.tensor, diff_dst.tensor}, diff_src,
                         lowering.flat(FlatOp::ReluBackward, dst.tensor, diff_dst.tensor, diff_src), diff_dst.tensor);
}

}  // namespace roentgen::engine::cuda
