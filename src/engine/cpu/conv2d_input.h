// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norms that store no result: the convolution behind them normalises what it reads.
#pragma once

#include <vector>

#include "engine/cpu/conv_algorithm.h"
#include "engine/cpu/conv_tensors.h"
#include "engine/cpu/lowering.h"

namespace roentgen::engine::cpu {

struct ConvGeometry;

/// True when a batch norm need not store its result in training: a convolution is its only reader, and the kernels
/// chosen for its forward and its weight gradient normalise while they read. `values`: how what the batch norm reads
/// lies.
[[nodiscard]] bool is_normalised_by_reader(graph::NodeId norm, Layout values, Lowering& lowering);

/// What a convolution reads: a value, or what stands in place of a batch norm's.
struct ConvSource {
  TensorId src = -1;
  NormalisedInput input;
  /// All of its tensors.
  std::vector<TensorId> reads;
};
/// The value in a layout, or what define_normalised() said of it.
[[nodiscard]] ConvSource conv_source(graph::NodeId value, Layout layout, Lowering& lowering);

/// True when the data gradient of a convolution that reads `value` can add up the batch norm's gradients itself
/// (shared_gradients.h): it has shared statistics and stores no result, and the algorithm's kernels see whole pixels.
[[nodiscard]] bool adds_to_norm(graph::NodeId value, const ConvGeometry& g, ConvAlgorithm algorithm,
                                const Lowering& lowering);

}  // namespace roentgen::engine::cpu
