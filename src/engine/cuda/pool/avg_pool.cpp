// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of average pooling over windows and over whole images.
#include "graph/ops/avg_pool.h"

#include "engine/cuda/pool/pooling.h"

namespace roentgen::engine::cuda {
namespace {
PoolWindow window_of(const graph::AvgPool& op) {
  return {.op = op.count_pad ? PoolOp::AverageWithPad : PoolOp::AverageWithoutPad,
          .kernel = op.kernel,
          .stride = op.stride,
          .pad = op.pad};
}
constexpr PoolWindow kWhole{.op = PoolOp::Region};
}  // namespace

void lower(const graph::AvgPool& op, graph::NodeId id, Lowering& lowering) { lower_pool(window_of(op), id, lowering); }
void lower_backward(const graph::AvgPool& op, graph::NodeId id, Lowering& lowering) {
  lower_pool_backward(window_of(op), id, lowering);
}

void lower(const graph::GlobalAvgPool&, graph::NodeId id, Lowering& lowering) { lower_pool(kWhole, id, lowering); }
void lower_backward(const graph::GlobalAvgPool&, graph::NodeId id, Lowering& lowering) {
  lower_pool_backward(kWhole, id, lowering);
}

}  // namespace roentgen::engine::cuda
