// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inputs and moments of convolutions and poolings, for the batch norms around them, as roles say (norm_roles.h).
#pragma once

#include <vector>

#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

/// Input of a convolution: a stored value, or the values of a batch norm that it normalises itself.
struct ConvSource {
  TensorId src = -1;
  Prologue prologue;
  /// Appends all of its tensors.
  std::vector<TensorId> reads;
};
/// Stored value in a layout, or the prologue that define_normalised() recorded for it.
[[nodiscard]] ConvSource conv_source(graph::NodeId value, Layout layout, Lowering& lowering);

/// Makes the sums for the moments of a convolution's `result`, where the batch norm `norm` finds them. Call it before
/// that batch norm is lowered.
[[nodiscard]] ResultMoments moments_for_norm(const Located& result, graph::NodeId norm, Lowering& lowering);

}  // namespace roentgen::engine::cpu
