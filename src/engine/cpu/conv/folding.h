// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Folding in inference: batch norm, addition and activation after a convolution or linear layer, computed with it
// (graph/passes: fold_batch_norm, fold_relu).
#pragma once

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

/// Operations that a layer applies to its result, and the node whose value that becomes.
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
/// Lowers a linear layer; it can fold only a relu.
bool lower_with(const graph::Linear& op, graph::NodeId id, const Folding& folding, Lowering& lowering);

/// Emits the layer `id` with its folding. Where that is impossible, emits it alone and returns false: the folded nodes
/// must then be emitted separately.
bool lower_folded(graph::NodeId id, const Folding& folding, Lowering& lowering);

}  // namespace roentgen::engine::cpu
