// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of ReLU where it is not fused into a batch norm.
#include "graph/ops/relu.h"

#include "engine/cuda/elementwise/flat.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

void lower(const graph::Relu&, graph::NodeId id, Lowering& lowering) {
  const Located src = lowering.value(lowering.node(id).inputs[0]);
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "relu", {src.tensor}, dst,
                        {flat_kernel({.op = FlatOp::Relu,
                                      .type = dst.layout.dtype,
                                      .a = src.tensor,
                                      .dst = dst.tensor,
                                      .count = stored_elements(dst.shape, dst.layout)},
                                     lowering.stream()),
                         "flat"},
                        src.tensor);
}

void lower_backward(const graph::Relu&, graph::NodeId id, Lowering& lowering) {
  const Located dst = lowering.value(id);
  const Located diff_dst = lowering.gradient(id, dst.layout);
  const Located diff_src = lowering.gradient_tensor(lowering.node(id).inputs[0], dst.layout);
  lowering.emit_backward(id, "relu", {dst.tensor, diff_dst.tensor}, diff_src,
                         {flat_kernel({.op = FlatOp::ReluBackward,
                                       .type = dst.layout.dtype,
                                       .a = dst.tensor,
                                       .b = diff_dst.tensor,
                                       .dst = diff_src.tensor,
                                       .count = stored_elements(dst.shape, dst.layout)},
                                      lowering.stream()),
                          "flat"},
                         diff_dst.tensor);
}

}  // namespace roentgen::engine::cuda
