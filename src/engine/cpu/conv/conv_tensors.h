// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tensors, prologue and epilogue of our convolution kernels: work fused before and after the sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/plan.h"
#include "engine/plan/kernel.h"

namespace roentgen::engine::cpu {

/// Transform that a pass applies to its source while reading it. A forward (also of a max pooling) or a weight gradient
/// reads value * scale + shift per channel, then max(., 0) if `relu`. The channels of all `pieces` in order form the
/// source. The transformed values are never stored. Padding stays zero.
struct Prologue {
  struct Piece {
    TensorId value = -1;
    std::int64_t blocks = 0;
  };
  std::vector<Piece> pieces;  ///< tensors that form the source; empty: the pass reads src unchanged
  TensorId constants = -1;    ///< tensor of all scales, then all shifts, one per channel, f32; -1: no normalisation
  bool relu = false;
};

/// Moments that a forward sums while it stores results, for the batch norm that reads them. For each channel, they are
/// the sums of (result - pivot) and of its square. Each (block of channels, thread) has separate sums, as in Partial
/// (batch_norm_blocks.h).
struct ResultMoments {
  TensorId partial = -1;  ///< tensor of the sums, f64; -1: no moments
  TensorId pivot = -1;    ///< tensor of the pivots, f32, one number per channel
};

/// Work that a pass does on its results before it stores them.
struct Epilogue {
  bool adds = false;        ///< forward: adds the result to the values in dst
  bool relu = false;        ///< forward: applies max(., 0) to the result
  ResultMoments moments{};  ///< sums of results, in forwards by matrix products only
  /// Backward data of pointwise products: backward of the batch norm that made src. It runs on the gradient of src.
  std::optional<FusedNormBackward> norm_gradient{};
};

/// Bytes of scratch of a kernel. The content is undefined before and after a run.
struct ScratchBytes {
  std::size_t shared = 0;
  std::size_t own = 0;  ///< bytes that are private to each thread
  /// Size in bytes of one tensor that holds the shared and all private parts.
  [[nodiscard]] std::size_t total(int threads) const { return shared + static_cast<std::size_t>(threads) * own; }
};

/// Tensors of one pass of a convolution. Forward reads src, weights and bias (-1: none) and writes dst. Backward data
/// reads dst (the gradient of the result) and weights, and writes src (the gradient of the source). Backward weights
/// reads src and dst (the gradient of the result), and writes the gradients weights and bias (-1: none).
struct ConvTensors {
  TensorId src = -1;      ///< tensor of the source, or of its gradient
  TensorId weights = -1;  ///< tensor of the weights, or of their gradient
  TensorId bias = -1;     ///< tensor of the bias, or of its gradient; padded to whole blocks of channels
  TensorId dst = -1;      ///< tensor of the result, or of its gradient
  TensorId scratch = -1;  ///< tensor of ConvKernel::scratch_bytes() bytes
  /// Per-thread part of the scratch, of Storage::Workspace. -1: `scratch` holds all of it.
  TensorId own_scratch = -1;
  Prologue prologue{};  ///< transform of the source; not supported by Direct
  Epilogue epilogue{};  ///< work on results; Direct supports only `adds` and `relu`
};

}  // namespace roentgen::engine::cpu
