// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of max pooling: oneDNN's, with a workspace that remembers where the maxima were.
#include "graph/ops/max_pool.h"

#include "engine/cpu/pooling.h"

namespace roentgen::engine::cpu {
namespace {
PoolGeometry geometry_of(const graph::MaxPool& op, const graph::Node& node, const Located& src) {
  return {
      .src = src, .dst = node.shape, .kernel = op.kernel, .stride = op.stride, .pad = op.pad, .kind = PoolKind::Max};
}
}  // namespace

void lower(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.graph().node(id);
  lower_pool(geometry_of(op, node, pool_source(node.inputs[0], lowering)), id, lowering);
}

void lower_backward(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.graph().node(id);
  Located src = lowering.value(node.inputs[0]);
  src.layout = lowering.value(id).layout;
  lower_pool_backward(geometry_of(op, node, src), id, lowering);
}

}  // namespace roentgen::engine::cpu
