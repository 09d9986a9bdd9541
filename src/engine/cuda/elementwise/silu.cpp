// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of SiLU to a plan.
#include "graph/ops/silu.h"

#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

void lower(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const Located src = lowering.value(lowering.node(id).inputs[0]);
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "silu", {src.tensor}, dst, lowering.flat(FlatOp::Silu, src.tensor, -1, dst), src.tensor);
}

void lower_backward(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const graph::NodeId input = lowering.node(id).inputs[0];
  const Layout layout = lowering.value(id).layout;
  const Located src = lowering.value_in(input, layout);
  const Located diff_dst = lowering.gradient(id, layout);
  const Located diff_src = lowering.gradient_tensor(input, layout);
  lowering.emit_backward(id, "silu", {src.tensor, diff_dst.tensor}, diff_src,
                         lowering.flat(FlatOp::SiluBackward, src.tensor, diff_dst.tensor, diff_src), diff_dst.tensor);
}

}  // namespace roentgen::engine::cuda
