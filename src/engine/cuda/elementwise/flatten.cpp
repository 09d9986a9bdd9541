// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds flatten to a plan. It needs no kernel call, because its result is a view of a row-major value.
#include "graph/ops/flatten.h"

#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

void lower(const graph::Flatten&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  Located view = lowering.value_in(node.inputs[0], Layout{});
  view.shape = node.shape;
  lowering.define_as(id, view);
}

void lower_backward(const graph::Flatten&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  Located view = lowering.gradient(id, Layout{});
  view.shape = lowering.node(node.inputs[0]).shape;
  lowering.contribute(node.inputs[0], view);
}

}  // namespace roentgen::engine::cuda
