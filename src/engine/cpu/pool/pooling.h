// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Pooling by oneDNN, shared by max and average pooling.
#pragma once

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

enum class PoolKind { Max, AverageWithPad, AverageWithoutPad };

/// Pooling of (N, C, H, W) to (N, C, OH, OW), in the layout of `src`.
struct PoolGeometry {
  Located src;
  Shape dst;
  graph::Extent kernel;
  graph::Extent stride;
  graph::Extent pad;
  PoolKind kind = PoolKind::Max;
};

/// True if our kernels can compute this max pooling together with a batch norm that only the pooling reads.
[[nodiscard]] bool pools_normalised(const graph::MaxPool& op);
/// Input of a pooling, converted to f32 if oneDNN cannot pool bf16.
[[nodiscard]] Located pool_source(graph::NodeId input, Lowering& lowering);
/// Adds the forward entry. A max pooling in training keeps a workspace for backward.
void lower_pool(const PoolGeometry& geometry, graph::NodeId id, Lowering& lowering);
void lower_pool_backward(const PoolGeometry& geometry, graph::NodeId id, Lowering& lowering);

}  // namespace roentgen::engine::cpu
