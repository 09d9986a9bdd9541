// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel call that computes a stem's batch norm, ReLU and max pooling together (norm_pool.h). The norm itself
// only computes statistics.
#pragma once

#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

/// True in training if a max pooling is the only reader of this batch norm and normalises its values.
[[nodiscard]] bool is_pooled_norm(graph::NodeId norm, const Lowering& lowering);
/// Adds the forward entry of the pooling `id`, which reads a norm for which is_pooled_norm() is true.
void lower_norm_pool(graph::NodeId id, Lowering& lowering);
/// Adds the backward entries of the pooling and of the batch norm before it.
void lower_norm_pool_backward(graph::NodeId id, Lowering& lowering);

}  // namespace roentgen::engine::cuda
