// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What our convolution kernels work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/plan.h"
#include "engine/plan/kernel.h"

namespace roentgen::engine::cpu {

/// Work of a pass on the values it reads: a forward (of a max pooling, too) or a weight gradient reads in place of
/// src: value * scale + shift, and with `relu` max(., 0) of it, of values whose channels lie one after another.
/// Computed while they are read and stored nowhere; zeros that pad them stay zeros.
struct Prologue {
  struct Piece {
    TensorId value = -1;
    std::int64_t blocks = 0;
  };
  std::vector<Piece> pieces;  ///< none: src as it is
  TensorId constants = -1;    ///< scale of every channel, then shift of every channel, f32; -1 without pieces
  bool relu = false;
};

/// What a forward adds up, for the batch norm that reads it, while it stores results: of every channel, result - pivot
/// and its square, in sums for each (block of channels, thread) as Partial in batch_norm_blocks.h has them.
struct ResultMoments {
  TensorId partial = -1;  ///< f64; -1: nothing is added up
  TensorId pivot = -1;    ///< f32, a number for every channel
};

/// Work of a pass on its results before it stores them.
struct Epilogue {
  bool adds = false;        ///< forward: adds to what lies in dst
  bool relu = false;        ///< forward: max(., 0) of the result
  ResultMoments moments{};  ///< forward of products alone
  /// Backward data of pointwise products: the backward of the batch norm that made src takes src's gradient.
  std::optional<FusedNormBackward> norm_gradient{};
};

/// Scratch of a kernel, unset before and after.
struct ScratchBytes {
  std::size_t shared = 0;
  std::size_t own = 0;  ///< of each thread
  /// In one tensor for all of it.
  [[nodiscard]] std::size_t total(int threads) const { return shared + static_cast<std::size_t>(threads) * own; }
};

/// The tensors of one pass of a convolution. Forward reads src and weights (and bias, -1 without) and writes dst;
/// backward data reads dst (its gradient) and weights, writes src (its gradient); backward weights reads src and dst,
/// writes weights and, where there is one, bias.
struct ConvTensors {
  TensorId src = -1;      ///< or its gradient
  TensorId weights = -1;  ///< or their gradient
  TensorId bias = -1;     ///< or its gradient; a number for every channel of the last block, too
  TensorId dst = -1;      ///< or its gradient
  TensorId scratch = -1;  ///< as many bytes as ConvKernel::scratch_bytes() says
  /// The part of it that each thread has of its own, of Storage::Workspace; -1: all lies in `scratch`.
  TensorId own_scratch = -1;
  Prologue prologue{};  ///< none of direct's kernels has one
  Epilogue epilogue{};  ///< direct's have `adds` and `relu`
};

}  // namespace roentgen::engine::cpu
