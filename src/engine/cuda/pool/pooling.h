// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries that all poolings share.
#pragma once

#include "engine/cuda/plan/lowering.h"
#include "engine/cuda/pool/window.h"

namespace roentgen::engine::cuda {

/// Pooling of the node's input by windows, or by regions, for which `kernel` is ignored.
struct PoolWindow {
  PoolOp op = PoolOp::Max;
  graph::Extent kernel{1, 1};
  graph::Extent stride{1, 1};
  graph::Extent pad{0, 0};
};
/// Forward entry; a training maximum keeps the winners for backward.
void lower_pool(const PoolWindow& window, graph::NodeId id, Lowering& lowering);
/// Backward entry.
void lower_pool_backward(const PoolWindow& window, graph::NodeId id, Lowering& lowering);

}  // namespace roentgen::engine::cuda
