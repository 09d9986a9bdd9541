// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// oneDNN's pooling primitive, shared by max and average pooling.
#pragma once

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

enum class PoolKind { Max, AverageWithPad, AverageWithoutPad };

/// A pooling over (N, C, H, W) -> (N, C, OH, OW), in the layout of `src`.
struct PoolGeometry {
  Located src;
  Shape dst;
  graph::Extent kernel;
  graph::Extent stride;
  graph::Extent pad;
  PoolKind kind = PoolKind::Max;
};

/// True when our kernels can compute this max pooling, of any batch norm that alone comes before it.
[[nodiscard]] bool pools_normalised(const graph::MaxPool& op);
/// Input of a pooling, converted to f32 if the library cannot pool bf16.
[[nodiscard]] Located pool_source(graph::NodeId input, Lowering& lowering);
/// Forward entry; a training max pool keeps a workspace for backward.
void lower_pool(const PoolGeometry& geometry, graph::NodeId id, Lowering& lowering);
void lower_pool_backward(const PoolGeometry& geometry, graph::NodeId id, Lowering& lowering);

}  // namespace roentgen::engine::cpu
