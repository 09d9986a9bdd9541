// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of adaptive average pooling. An image that already has the output's size is passed on without a
// copy.
#include "graph/ops/adaptive_avg_pool.h"

#include "engine/cuda/pool/pooling.h"

namespace roentgen::engine::cuda {
namespace {
constexpr PoolWindow kRegions{.op = PoolOp::Region};

bool is_identity(graph::NodeId id, const Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  return lowering.node(node.inputs[0]).shape == node.shape;
}
}  // namespace

void lower(const graph::AdaptiveAvgPool&, graph::NodeId id, Lowering& lowering) {
  if (is_identity(id, lowering)) {
    lowering.define_as(id, lowering.image(lowering.node(id).inputs[0]));
  } else {
    lower_pool(kRegions, id, lowering);
  }
}

void lower_backward(const graph::AdaptiveAvgPool&, graph::NodeId id, Lowering& lowering) {
  if (is_identity(id, lowering)) {
    lowering.contribute(lowering.node(id).inputs[0], lowering.image_gradient(id));
  } else {
    lower_pool_backward(kRegions, id, lowering);
  }
}

}  // namespace roentgen::engine::cuda
