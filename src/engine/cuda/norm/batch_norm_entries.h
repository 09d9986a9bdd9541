// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parameters, scratch and tensors that the plan entries of batch norms share.
#pragma once

#include <string_view>

#include "engine/cuda/norm/norm.h"
#include "engine/cuda/plan/lowering.h"
#include "graph/ops/batch_norm.h"

namespace roentgen::engine::cuda {

// Arrays of one float a channel, one behind the other in one tensor.
enum StatisticsArray : std::int64_t { kMean, kInvStd, kScale, kShift, kStatisticsArrays };
enum SlopeArray : std::int64_t { kSlope, kOffset, kSlopeArrays };

/// Extent of the norm of an image.
[[nodiscard]] NormShape norm_shape(const Located& image, const Lowering& lowering);
/// Bytes of so many arrays of one float a channel.
[[nodiscard]] std::size_t channel_bytes(const NormShape& shape, std::int64_t arrays);

/// Parameters and state of a norm.
struct NormParameters {
  TensorId weight = -1, bias = -1, running_mean = -1, running_var = -1;
};
/// Those of a node, padded to the channels of the shape.
[[nodiscard]] NormParameters norm_parameters(const graph::Node& node, const NormShape& shape, Lowering& lowering);

/// Scratch of the sums of a pass.
struct SumScratch {
  TensorId partials = -1, counters = -1;
};
/// Adds scratch of so many elements to an entry's writes.
[[nodiscard]] SumScratch add_scratch(const graph::Node& node, std::size_t partials, std::size_t counters,
                                     Emission& emission, Lowering& lowering);
[[nodiscard]] NormScratch scratch_at(const Addresses& at, const SumScratch& scratch);

/// Scale and shift from the running statistics, in kept memory of kStatisticsArrays arrays, made when parameters were
/// loaded.
[[nodiscard]] TensorId emit_running(const graph::BatchNorm& op, const graph::Node& node, const NormShape& shape,
                                    Lowering& lowering);

/// Tensors of a backward.
struct NormBackward {
  TensorId x = -1, dy = -1, second = -1, passed = -1, masked = -1, statistics = -1, slopes = -1;
  TensorId diff_weight = -1, diff_bias = -1;
  NormMask mask = NormMask::None;
  std::int64_t count = 0;  ///< NormSums::count
};
/// Entry of the sums of a backward (norm_gradient_sums()).
void emit_norm_sums(const graph::Node& node, const NormBackward& tensors, const NormShape& shape, Lowering& lowering);

}  // namespace roentgen::engine::cuda
