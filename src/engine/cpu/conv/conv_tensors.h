// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tensors, prologue and epilogue of our convolution kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/plan.h"
#include "engine/plan/kernel.h"

namespace roentgen::engine::cpu {

/// Transform of the values that a pass reads in place of src. A forward (also of a max pooling) or a weight gradient
/// reads value * scale + shift per channel, and with `relu` max(., 0) of it. The channels of `pieces` follow one
/// another. Results are computed during the read and stored nowhere. Padding stays zero.
struct Prologue {
  struct Piece {
    TensorId value = -1;
    std::int64_t blocks = 0;
  };
  std::vector<Piece> pieces;  ///< none: src as it is
  TensorId constants = -1;    ///< scale of every channel, then shift of every channel, f32; -1 without pieces
  bool relu = false;
};

/// Moments that a forward sums while it stores results, for the batch norm that reads them. Per channel: sums of result
/// - pivot and of its square, for each (block of channels, thread) as in Partial (batch_norm_blocks.h).
struct ResultMoments {
  TensorId partial = -1;  ///< f64; -1: no moments
  TensorId pivot = -1;    ///< f32, one number per channel
};

/// Work of a pass on its results before it stores them.
struct Epilogue {
  bool adds = false;        ///< forward: adds to what lies in dst
  bool relu = false;        ///< forward: max(., 0) of the result
  ResultMoments moments{};  ///< forward by products only
  /// Backward data of pointwise products: the batch norm that made src, whose backward runs on src's gradient.
  std::optional<FusedNormBackward> norm_gradient{};
};

/// Scratch of a kernel. Its content is undefined before and after a run.
struct ScratchBytes {
  std::size_t shared = 0;
  std::size_t own = 0;  ///< bytes for each thread
  /// Bytes of one tensor that holds all of it.
  [[nodiscard]] std::size_t total(int threads) const { return shared + static_cast<std::size_t>(threads) * own; }
};

/// Tensors of one pass of a convolution. Forward reads src, weights and bias (-1: none) and writes dst. Backward data
/// reads dst (its gradient) and weights, and writes src (its gradient). Backward weights reads src and dst, and writes
/// weights and bias (-1: none).
struct ConvTensors {
  TensorId src = -1;      ///< or its gradient
  TensorId weights = -1;  ///< or their gradient
  TensorId bias = -1;     ///< or its gradient; padded to whole blocks of channels
  TensorId dst = -1;      ///< or its gradient
  TensorId scratch = -1;  ///< ConvKernel::scratch_bytes() bytes
  /// Per-thread part of the scratch, of Storage::Workspace; -1: all of it lies in `scratch`.
  TensorId own_scratch = -1;
  Prologue prologue{};  ///< direct kernels have none
  Epilogue epilogue{};  ///< direct kernels have only `adds` and `relu`
};

}  // namespace roentgen::engine::cpu
