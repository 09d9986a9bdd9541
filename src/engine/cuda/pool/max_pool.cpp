// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of max pooling, alone or with the batch norm before it.
#include "graph/ops/max_pool.h"

#include "engine/cuda/pool/norm_pool_entries.h"
#include "engine/cuda/pool/pooling.h"

namespace roentgen::engine::cuda {
namespace {
PoolWindow window_of(const graph::MaxPool& op) {
  return {.op = PoolOp::Max, .kernel = op.kernel, .stride = op.stride, .pad = op.pad};
}
}  // namespace

void lower(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) {
  if (is_pooled_norm(lowering.node(id).inputs[0], lowering)) return lower_norm_pool(id, lowering);
  lower_pool(window_of(op), id, lowering);
}
void lower_backward(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) {
  if (is_pooled_norm(lowering.node(id).inputs[0], lowering)) return lower_norm_pool_backward(id, lowering);
  lower_pool_backward(window_of(op), id, lowering);
}

}  // namespace roentgen::engine::cuda
