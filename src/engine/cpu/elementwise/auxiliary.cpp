// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds auxiliary classifiers to a plan. They need no kernel calls, because their logits are a view of the previous
// layer.
#include "graph/ops/auxiliary.h"

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

void lower(const graph::Auxiliary&, graph::NodeId id, Lowering& lowering) {
  lowering.define_as(id, lowering.value(lowering.node(id).inputs[0]));
}

void lower_backward(const graph::Auxiliary&, graph::NodeId id, Lowering& lowering) {
  lowering.contribute(lowering.node(id).inputs[0], lowering.gradient(id, Layout{}));
}

}  // namespace roentgen::engine::cpu
