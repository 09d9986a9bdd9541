// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norms that store no result, since the convolution or pooling behind them normalises what it reads; and those
// whose forward or backward is partly done by the convolutions around them.
#pragma once

#include <vector>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

struct ConvGeometry;

/// True when a batch norm need not store its result in training: a convolution is its only reader, and the kernels
/// chosen for its forward and its weight gradient normalise while they read; or a max pooling is. `values`: how what
/// the batch norm reads lies.
[[nodiscard]] bool is_normalised_by_reader(graph::NodeId norm, Layout values, Lowering& lowering);

/// The convolution that makes the result of a batch norm with a residual while it reads it, and stores it: the first
/// of its readers, if kernels chosen for its forward see every value once. -1: none.
[[nodiscard]] graph::NodeId summing_reader(graph::NodeId norm, Lowering& lowering);

/// True when a batch norm need not store its result in training, since it is the residual of such a sum alone.
[[nodiscard]] bool is_normalised_as_residual(graph::NodeId norm, Layout values, Lowering& lowering);

/// What a convolution reads: a value, or what stands in place of a batch norm's.
struct ConvSource {
  TensorId src = -1;
  NormalisedInput input;
  /// All of its tensors.
  std::vector<TensorId> reads;
};
/// What define_residual_sum() said of this convolution.
[[nodiscard]] ConvSource residual_sum(graph::NodeId conv, const Lowering& lowering);
/// The value in a layout, or what define_normalised() said of it.
[[nodiscard]] ConvSource conv_source(graph::NodeId value, Layout layout, Lowering& lowering);

/// True when the forward of a convolution adds up for the batch norm that alone reads it: its algorithm's kernels do.
[[nodiscard]] bool gathers_moments(graph::NodeId id, ConvAlgorithm algorithm, const Lowering& lowering);
/// Where to, for the batch norm to find; before it is lowered. `result`: of the convolution.
[[nodiscard]] ResultMoments moments_for_norm(const Located& result, graph::NodeId id, Lowering& lowering);

/// True if the kernels of a convolution's gradients compute what comes to it from what comes to its one reader, by the
/// caller's word a batch norm.
[[nodiscard]] bool reads_gradient_of_norm(graph::NodeId id, Lowering& lowering);

/// True when the data gradient of a convolution that reads `value` does the backward of the batch norm that made it
/// (norm_gradients.h): it is the last gradient to come, and its algorithm's kernels see whole pixels. One with shared
/// statistics stores no result, either. One of a single value has a residual, and the kernels chosen for the gradients
/// of the convolution before it compute the gradient of what it reads themselves.
[[nodiscard]] bool adds_to_norm(graph::NodeId value, const ConvGeometry& g, ConvAlgorithm algorithm,
                                Lowering& lowering);

}  // namespace roentgen::engine::cpu
