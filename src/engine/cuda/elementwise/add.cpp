// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of addition to a plan.
#include "graph/ops/add.h"

#include "engine/cuda/elementwise/flat.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

void lower(const graph::Add&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located first = lowering.value(node.inputs[0]);
  const Located second = lowering.value_in(node.inputs[1], first.layout);
  const Located dst = lowering.define(id, first.layout);
  lowering.emit_forward(id, "add", {first.tensor, second.tensor}, dst,
                        {sum_kernel({first.tensor, second.tensor}, dst, lowering.stream()), "sum"}, first.tensor);
}

void lower_backward(const graph::Add&, graph::NodeId id, Lowering& lowering) {
  // Both inputs share one gradient tensor, so neither may overwrite it while the other needs it.
  const graph::Node& node = lowering.node(id);
  const Located diff_dst = lowering.gradient(id, lowering.value(id).layout);
  lowering.contribute(node.inputs[0], diff_dst);
  lowering.contribute(node.inputs[1], diff_dst);
}

}  // namespace roentgen::engine::cuda
