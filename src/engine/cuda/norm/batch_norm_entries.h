// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parameters, scratch and tensors that the batch norm kernel calls of a plan share.
#pragma once

#include <string_view>

#include "engine/cuda/norm/norm.h"
#include "engine/cuda/plan/lowering.h"
#include "graph/ops/batch_norm.h"

namespace roentgen::engine::cuda {

// Arrays stored one after another in one tensor, each with one float per channel.
enum StatisticsArray : std::int64_t { kMean, kInvStd, kScale, kShift, kStatisticsArrays };
enum SlopeArray : std::int64_t { kSlope, kOffset, kSlopeArrays };

/// Rows, channels and type of a batch norm over an image.
[[nodiscard]] NormShape norm_shape(const Located& image, const Lowering& lowering);
/// Size in bytes of `arrays` arrays with one float per channel.
[[nodiscard]] std::size_t channel_bytes(const NormShape& shape, std::int64_t arrays);

/// Parameter and state tensors of a norm.
struct NormParameters {
  TensorId weight = -1, bias = -1, running_mean = -1, running_var = -1;
};
/// Returns the parameter tensors of a node and sets their layouts, padded to the channels of `shape`.
[[nodiscard]] NormParameters norm_parameters(const graph::Node& node, const NormShape& shape, Lowering& lowering);

/// Scratch tensors for the sums of a pass.
struct SumScratch {
  TensorId partials = -1, counters = -1;
};
/// Creates scratch with these numbers of elements and adds it to the tensors that an entry writes.
[[nodiscard]] SumScratch add_scratch(const graph::Node& node, std::size_t partials, std::size_t counters,
                                     Emission& emission, Lowering& lowering);
[[nodiscard]] NormScratch scratch_at(const Addresses& at, const SumScratch& scratch);

/// Adds a preparation entry that computes scale and shift from the running statistics. Returns the tensor, in kept
/// memory, of kStatisticsArrays arrays. The entry runs again whenever parameters were loaded.
[[nodiscard]] TensorId emit_running(const graph::BatchNorm& op, const graph::Node& node, const NormShape& shape,
                                    Lowering& lowering);

/// Tensors of a batch norm's backward.
struct NormBackward {
  TensorId x = -1, dy = -1, second = -1, passed = -1, masked = -1, statistics = -1, slopes = -1;
  TensorId diff_weight = -1, diff_bias = -1;
  NormMask mask = NormMask::None;
  std::int64_t count = 0;  ///< NormSums::count
};
/// Adds the plan entry that computes the sums of a backward (norm_gradient_sums()).
void emit_norm_sums(const graph::Node& node, const NormBackward& tensors, const NormShape& shape, Lowering& lowering);

}  // namespace roentgen::engine::cuda
