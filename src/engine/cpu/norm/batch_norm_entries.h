// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers shared by the plan entries of batch normalisation. For batch_norm.cpp, batch_norm_gradient.cpp and
// convolutions that do a part of it (conv2d_input.cpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/cpu/plan/lowering.h"
#include "graph/ops/batch_norm.h"

namespace roentgen::engine::cpu {

/// Layout in which batch norms read a value: the machine's blocks, in the value's own type. A value that several of
/// them share has the type of results, since its gradient is the sum of theirs.
[[nodiscard]] Layout layout_of_value(graph::NodeId id, const Lowering& lowering);
/// Layout of the result of a batch norm that reads this value.
[[nodiscard]] Layout layout_of_result(graph::NodeId id, const Lowering& lowering);
/// Shape for a kernel of the batch norm `id` that makes or reads `located` from values stored as `value_dtype`.
[[nodiscard]] NormShape norm_shape(const Located& located, DType value_dtype, graph::NodeId id,
                                   const Lowering& lowering);
/// Implementation name, which is part of the plan's hash: ranks that wait for each other must do so in the same
/// entries.
[[nodiscard]] std::string norm_way(const Lowering& lowering);
/// Bytes of `arrays` numbers of f32 for every channel.
[[nodiscard]] std::size_t channel_bytes(const NormShape& shape, std::size_t arrays);
/// Bytes of two sums of f64 for every channel and slot: of each image, or of each thread.
[[nodiscard]] std::size_t partial_bytes(const NormShape& shape, std::int64_t slots);
[[nodiscard]] NormParameters norm_parameters(const graph::BatchNorm& op, const graph::Node& node, Lowering& lowering);
/// Pieces of a batch norm's input, all blocked alike. Their shared tensors are unset.
[[nodiscard]] std::vector<NormPiece> norm_pieces(graph::NodeId input, Lowering& lowering);

}  // namespace roentgen::engine::cpu
