// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Work that convolutions and poolings do for neighbouring batch norms: normalising their input, and summing moments of
// their result. NormRole says which kernel does it (norm_roles.h).
#pragma once

#include <vector>

#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

/// Input of a convolution: a stored value, or the input of a batch norm, which the convolution normalises itself.
struct ConvSource {
  TensorId src = -1;
  Prologue prologue;
  /// Tensors that the convolution's entry reads as its input, including those of the prologue.
  std::vector<TensorId> reads;
};
/// Returns the stored value in a layout, or the prologue that define_normalised() recorded for it.
[[nodiscard]] ConvSource conv_source(graph::NodeId value, Layout layout, Lowering& lowering);

/// Creates the tensors for the moments of a convolution's `result`, and records them for the batch norm `norm`. Call it
/// before that batch norm is lowered.
[[nodiscard]] ResultMoments moments_for_norm(const Located& result, graph::NodeId norm, Lowering& lowering);

}  // namespace roentgen::engine::cpu
