// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of a max pooling that normalises what it reads (norm_pool.h): batch norm, ReLU and pooling of a stem.
// The norm's entries are its statistics alone.
#pragma once

#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

/// True where the pooling that alone reads this batch norm normalises its values, in training.
[[nodiscard]] bool is_pooled_norm(graph::NodeId norm, const Lowering& lowering);
/// Forward entry of the pooling `id` of such a norm.
void lower_norm_pool(graph::NodeId id, Lowering& lowering);
/// Backward entries of both.
void lower_norm_pool_backward(graph::NodeId id, Lowering& lowering);

}  // namespace roentgen::engine::cuda
