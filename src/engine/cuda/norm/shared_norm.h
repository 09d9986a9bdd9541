// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of batch norms that read segments of virtual concatenations (segments.h). Backward of a norm waits for
// the next one that reads the same segments, so that the two share a pass. A segment whose gradient is needed earlier
// gets a pass of its own.
#pragma once

#include <vector>

#include "engine/cuda/plan/lowering.h"
#include "graph/ops/batch_norm.h"

namespace roentgen::engine::cuda {

/// True where the norm of this node shares statistics: in training a segment of a virtual concatenation, or several; in
/// inference several.
[[nodiscard]] bool is_shared_norm(graph::NodeId id, const Lowering& lowering);
/// Forward entries of such a norm.
void lower_shared(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering);
/// The entry that computes such a norm's result again in backward; where it lies.
[[nodiscard]] Located lower_shared_again(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering);
/// Backward entries of such a norm, or of the one that waited and this one.
void lower_shared_backward(graph::NodeId id, Lowering& lowering);
/// Closes the gradient of a segment.
[[nodiscard]] Located finish_segment(graph::NodeId segment, Lowering& lowering);

}  // namespace roentgen::engine::cuda
