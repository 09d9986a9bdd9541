// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What inference computes together with a convolution or linear layer: the batch norm, addition and activation behind
// it (graph/passes: fold_batch_norm, fold_relu).
#pragma once

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

/// What a layer does with its result, and whose value that becomes.
struct Folding {
  /// The node whose value is written: the layer itself, or what is folded into it.
  graph::NodeId result = -1;
  /// Folded into the weights; attribute of `result`. Null without one.
  const graph::BatchNorm* norm = nullptr;
  /// Added; -1 without one.
  graph::NodeId residual = -1;
  bool relu = false;
};

/// Emits the forward of the layer `id` with its folding. False, with nothing emitted, where the library has no fast
/// kernel for the two together. In conv2d_forward.cpp and linear.cpp.
bool lower_with(const graph::Conv2d& op, graph::NodeId id, const Folding& folding, Lowering& lowering);
/// Likewise; a linear layer takes in a relu only.
bool lower_with(const graph::Linear& op, graph::NodeId id, const Folding& folding, Lowering& lowering);

/// Emits the layer `id` with its folding or, where that cannot be, alone, and returns false: what was to be folded is
/// then still to be done.
bool lower_folded(graph::NodeId id, const Folding& folding, Lowering& lowering);

}  // namespace roentgen::engine::cpu
