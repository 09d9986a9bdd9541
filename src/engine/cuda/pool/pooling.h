// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls that all poolings share.
#pragma once

#include "engine/cuda/plan/lowering.h"
#include "engine/cuda/pool/window.h"

namespace roentgen::engine::cuda {

/// Pooling of the node's input. With PoolOp::Region, `kernel`, `stride` and `pad` are ignored.
struct PoolWindow {
  PoolOp op = PoolOp::Max;
  graph::Extent kernel{1, 1};
  graph::Extent stride{1, 1};
  graph::Extent pad{0, 0};
};
/// Adds the kernel call of a pooling's forward pass. In training, a maximum also stores the winners for backward.
void lower_pool(const PoolWindow& window, graph::NodeId id, Lowering& lowering);
/// Adds the kernel call of a pooling's backward pass.
void lower_pool_backward(const PoolWindow& window, graph::NodeId id, Lowering& lowering);

}  // namespace roentgen::engine::cuda
