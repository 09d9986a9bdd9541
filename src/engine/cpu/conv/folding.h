// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Folding in inference: a convolution or linear layer also computes the batch norm, addition and activation that follow
// it (graph/passes: fold_batch_norm, fold_relu).
#pragma once

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

/// Operations that a layer also applies to its result, and the node that receives the result.
struct Folding {
  /// Node whose value is written: the layer itself, or the last node folded into it.
  graph::NodeId result = -1;
  /// Batch norm folded into the weights; an attribute of the node `result`. Null: none.
  const graph::BatchNorm* norm = nullptr;
  /// Node whose value is added to the result; -1: none.
  graph::NodeId residual = -1;
  bool relu = false;
};

/// Emits the forward of the layer `id` together with its folding. Returns false and emits nothing if oneDNN has no fast
/// kernel for the combination. Defined in conv2d_forward.cpp and linear.cpp.
bool lower_with(const graph::Conv2d& op, graph::NodeId id, const Folding& folding, Lowering& lowering);
/// Emits a linear layer. It can fold only a ReLU.
bool lower_with(const graph::Linear& op, graph::NodeId id, const Folding& folding, Lowering& lowering);

/// Emits the layer `id` with its folding. If that is impossible, emits the layer alone and returns false. The caller
/// must then emit the folded nodes separately.
bool lower_folded(graph::NodeId id, const Folding& folding, Lowering& lowering);

}  // namespace roentgen::engine::cpu
