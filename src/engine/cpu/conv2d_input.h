// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norms that store no result: the convolution behind them normalises what it reads.
#pragma once

#include "engine/cpu/conv_tensors.h"
#include "engine/cpu/lowering.h"

namespace roentgen::engine::cpu {

/// True when a batch norm need not store its result in training: a convolution is its only reader, and the kernels
/// chosen for its forward and its weight gradient normalise while they read. `values`: how what the batch norm reads
/// lies.
[[nodiscard]] bool is_normalised_by_reader(graph::NodeId norm, Layout values, Lowering& lowering);

/// Adds `src`, or what `input` has in place of it, to an entry's reads.
void add_reads(const Located& src, const NormalisedInput& input, std::vector<TensorId>& reads);

}  // namespace roentgen::engine::cpu
