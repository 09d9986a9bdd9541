// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of batch norms that read segments (inputs) of virtual concatenations (segments.h). The backward
// of a norm is delayed until the next norm that reads the same segments, so that the two norms share a pass. If a
// segment's gradient is needed earlier, the delayed norm gets a separate pass.
#pragma once

#include <vector>

#include "engine/cuda/plan/lowering.h"
#include "graph/ops/batch_norm.h"

namespace roentgen::engine::cuda {

/// True if the batch norm shares statistics with other batch norms. In training it then reads one or more segments of
/// virtual concatenations, in inference more than one.
[[nodiscard]] bool is_shared_norm(graph::NodeId id, const Lowering& lowering);
/// Adds the forward entries of a norm for which is_shared_norm() is true.
void lower_shared(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering);
/// Adds the entry that recomputes the result of a shared norm in backward. Returns where the result is stored.
[[nodiscard]] Located lower_shared_again(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering);
/// Adds the backward entries of a shared norm, and of the delayed norm if there is one.
void lower_shared_backward(graph::NodeId id, Lowering& lowering);
/// Finishes the gradient of a segment: adds the remaining entries and returns where it is stored.
[[nodiscard]] Located finish_segment(graph::NodeId segment, Lowering& lowering);

}  // namespace roentgen::engine::cuda
