// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of max pooling.
#include "graph/ops/max_pool.h"

#include "engine/cuda/pool/pooling.h"

namespace roentgen::engine::cuda {
namespace {
PoolWindow window_of(const graph::MaxPool& op) {
  return {.op = PoolOp::Max, .kernel = op.kernel, .stride = op.stride, .pad = op.pad};
}
}  // namespace

void lower(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) { lower_pool(window_of(op), id, lowering); }
void lower_backward(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) {
  lower_pool_backward(window_of(op), id, lowering);
}

}  // namespace roentgen::engine::cuda
