// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of SiLU.
#include "graph/ops/silu.h"

#include "engine/cuda/elementwise/flat.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

void lower(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const Located src = lowering.value(lowering.node(id).inputs[0]);
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "silu", {src.tensor}, dst,
                        {flat_kernel({.op = FlatOp::Silu,
                                      .type = dst.layout.dtype,
                                      .a = src.tensor,
                                      .dst = dst.tensor,
                                      .count = stored_elements(dst.shape, dst.layout)},
                                     lowering.stream()),
                         "flat"},
                        src.tensor);
}

void lower_backward(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const graph::NodeId input = lowering.node(id).inputs[0];
  const Layout layout = lowering.value(id).layout;
  const Located src = lowering.value_in(input, layout);
  const Located diff_dst = lowering.gradient(id, layout);
  const Located diff_src = lowering.gradient_tensor(input, layout);
  lowering.emit_backward(id, "silu", {src.tensor, diff_dst.tensor}, diff_src,
                         {flat_kernel({.op = FlatOp::SiluBackward,
                                       .type = layout.dtype,
                                       .a = src.tensor,
                                       .b = diff_dst.tensor,
                                       .dst = diff_src.tensor,
                                       .count = stored_elements(src.shape, layout)},
                                      lowering.stream()),
                          "flat"},
                         diff_dst.tensor);
}

}  // namespace roentgen::engine::cuda
