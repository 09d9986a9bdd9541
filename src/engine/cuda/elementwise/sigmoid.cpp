// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of the sigmoid to a plan.
#include "graph/ops/sigmoid.h"

#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

void lower(const graph::Sigmoid&, graph::NodeId id, Lowering& lowering) {
  const graph::NodeId input = lowering.node(id).inputs[0];
  const Located given = lowering.value(input);
  // Padding must stay 0, but the sigmoid of 0 is 0.5. So values with padding are converted to a layout without it.
  const bool has_padding = padded_channels(given.shape, given.layout) != given.shape[1];
  const Located src = has_padding ? lowering.value_in(input, Layout{}) : given;
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "sigmoid", {src.tensor}, dst, lowering.flat(FlatOp::Sigmoid, src.tensor, -1, dst),
                        src.tensor);
}

void lower_backward(const graph::Sigmoid&, graph::NodeId id, Lowering& lowering) {
  const Located dst = lowering.value(id);
  const Located diff_dst = lowering.gradient(id, dst.layout);
  const Located diff_src = lowering.gradient_tensor(lowering.node(id).inputs[0], dst.layout);
  lowering.emit_backward(id, "sigmoid", {dst.tensor, diff_dst.tensor}, diff_src,
                         lowering.flat(FlatOp::SigmoidBackward, dst.tensor, diff_dst.tensor, diff_src),
                         diff_dst.tensor);
}

}  // namespace roentgen::engine::cuda
