// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers shared by the plan entries of batch norm: batch_norm.cpp, batch_norm_gradient.cpp, and convolutions that
// compute a part of it (conv2d_input.cpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/cpu/plan/lowering.h"
#include "graph/ops/batch_norm.h"

namespace roentgen::engine::cpu {

/// Layout in which batch norms read a value: blocked for this machine's vectors, in the value's own type. If several
/// batch norms share the value, it has the type of their results, because its gradient is a sum of the readers'
/// gradients.
[[nodiscard]] Layout layout_of_value(graph::NodeId id, const Lowering& lowering);
/// Layout of the result of a batch norm that reads the value `id`.
[[nodiscard]] Layout layout_of_result(graph::NodeId id, const Lowering& lowering);
/// Shape for a kernel of the batch norm `id`. `located` is the tensor that the kernel writes or reads, `value_dtype`
/// the type of its stored input.
[[nodiscard]] NormShape norm_shape(const Located& located, DType value_dtype, graph::NodeId id,
                                   const Lowering& lowering);
/// Name of the batch norm's implementation. It is part of the plan's hash, so that ranks with equal hashes exchange
/// their sums in the same entries.
[[nodiscard]] std::string norm_way(const Lowering& lowering);
/// Size in bytes of `arrays` arrays with one f32 per channel.
[[nodiscard]] std::size_t channel_bytes(const NormShape& shape, std::size_t arrays);
/// Size in bytes of two f64 sums for every channel and slot. There is a slot per image, or per thread.
[[nodiscard]] std::size_t partial_bytes(const NormShape& shape, std::int64_t slots);
[[nodiscard]] NormParameters norm_parameters(const graph::BatchNorm& op, const graph::Node& node, Lowering& lowering);
/// Pieces of a batch norm's input: the inputs of a virtual concatenation, or a single value. All have the same blocked
/// layout. Their gradient, sums and statistics are not set yet.
[[nodiscard]] std::vector<NormPiece> norm_pieces(graph::NodeId input, Lowering& lowering);

}  // namespace roentgen::engine::cpu
