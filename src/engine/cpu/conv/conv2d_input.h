// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What convolutions and poolings read, and add up, for the batch norms around them, as roles say (norm_roles.h).
#pragma once

#include <vector>

#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

/// What a convolution reads: a value, or what stands in place of a batch norm's.
struct ConvSource {
  TensorId src = -1;
  NormalisedInput input;
  /// All of its tensors.
  std::vector<TensorId> reads;
};
/// The value in a layout, or what define_normalised() said of it.
[[nodiscard]] ConvSource conv_source(graph::NodeId value, Layout layout, Lowering& lowering);

/// Where a convolution whose role it is adds up the moments of its `result` for the batch norm `norm`, for that one to
/// find; before it is lowered.
[[nodiscard]] ResultMoments moments_for_norm(const Located& result, graph::NodeId norm, Lowering& lowering);

}  // namespace roentgen::engine::cpu
