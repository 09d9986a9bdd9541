// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norm kernels used by batch_norm.cpp and batch_norm_gradient.cpp. All values have the layout nChw{block}c.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/kernel.h"

namespace roentgen::engine::cpu {

/// Size of a batch norm's input. If the input consists of several pieces, the size covers all of them together.
struct NormShape {
  std::int64_t images = 0;
  std::int64_t blocks = 0;
  std::int64_t pixels = 0;
  int block = 16;
  /// Stored types: value_dtype of the normalised value and its gradient, result_dtype of the result and its gradient.
  DType value_dtype = DType::F32;
  DType result_dtype = DType::F32;
  int threads = 1;
  /// True if results are so large that they would leave the cache before they are read. They are then written past it.
  bool is_streamed = false;
  /// Group of ranks whose images the statistics cover. Null or a single rank: only this rank.
  std::shared_ptr<const NormGroup> group{};
  /// Index of the batch norm in its graph, for the error message if a wait of `group` times out.
  std::int64_t index = 0;

  [[nodiscard]] bool is_over_ranks() const { return group != nullptr && group->ranks > 1; }
  /// Sums over all ranks, in place.
  void sum_over_ranks(std::span<double> sums) const {
    group->sum(runtime::host_span(sums), runtime::reached_event(), index);
  }
  /// Number of elements that the statistics of one channel cover.
  [[nodiscard]] double count() const {
    return static_cast<double>(images * pixels) * (is_over_ranks() ? group->ranks : 1);
  }
};

/// One piece of the input of a batch norm: consecutive channel blocks stored in a separate tensor.
struct NormPiece {
  TensorId value = -1;
  std::int64_t blocks = 0;
  /// Array [mean | variance | istd], each with one float per padded channel; istd is 1/standard deviation.
  TensorId statistics = -1;
  /// Shared gradient G and its sums [A | B]. If `is_first`, they are overwritten instead of added to.
  TensorId gradient = -1;
  TensorId sums = -1;
  bool is_first = false;
  bool needs_gradient = false;
};

/// Parameters and running statistics of a batch norm.
struct NormParameters {
  TensorId scale = -1;
  TensorId shift = -1;
  TensorId running_mean = -1;
  TensorId running_variance = -1;
  double epsilon = 1e-5;
  double momentum = 0.1;
};

/// Operands of a forward. `constants` receives the computed [scale | shift]. `partial` is scratch for sums per (block,
/// image). If `has_moments`, it instead holds the sums per (block, thread) from the convolution before. Without `dst`,
/// only the constants are computed.
struct NormForward {
  std::vector<NormPiece> pieces;
  NormParameters parameters;
  TensorId residual = -1;
  TensorId dst = -1;
  TensorId constants = -1;
  TensorId partial = -1;
  bool relu = false;
  bool has_moments = false;
};
/// Origin of the statistics that a forward uses.
enum class NormSource : std::uint8_t {
  Running,  ///< running statistics (inference); reads and writes each element once
  Batch,    ///< computed together with the result, block by block; updates the running statistics
  Pieces,   ///< computed earlier, separately for each input of a concatenation; updates the running statistics
  Again,    ///< statistics of the forward, to recompute the same bits; no update of the running statistics
};
[[nodiscard]] std::unique_ptr<Kernel> norm_forward_kernel(NormSource source, const NormShape& shape, NormForward work);

/// Operands of the statistics of one value. The pivot is a running mean (from `pivot_offset` on); it keeps the f32 sums
/// accurate.
struct NormStatistics {
  TensorId value = -1;
  TensorId statistics = -1;
  TensorId partial = -1;
  TensorId pivot = -1;
  std::int64_t pivot_offset = 0;
  double epsilon = 1e-5;
};
[[nodiscard]] std::unique_ptr<Kernel> statistics_kernel(const NormShape& shape, NormStatistics work);

/// Operands of a backward. `g` receives the masked sum of dy and dy2; -1 if it is not needed later. `constants` is
/// scratch with two numbers per channel in a shared backward, and five in a single one.
struct NormBackward {
  std::vector<NormPiece> pieces;
  NormParameters parameters;
  TensorId dy = -1;
  TensorId dy2 = -1;
  TensorId y = -1;         ///< result, from which the ReLU mask is read if there is a residual
  TensorId residual = -1;  ///< added before the ReLU mask is computed, if there is no y
  TensorId g = -1;
  TensorId dx = -1;
  TensorId y_again = -1;
  TensorId diff_scale = -1;
  TensorId diff_shift = -1;
  TensorId constants = -1;
  TensorId partial = -1;
  bool relu = false;
};
/// Kernel of a backward for a single value: its two phases run block by block.
[[nodiscard]] std::unique_ptr<Kernel> single_backward_kernel(const NormShape& shape, const NormBackward& work);
/// Kernel of a shared backward: adds to G, A and B of the pieces in one pass.
[[nodiscard]] std::unique_ptr<Kernel> shared_backward_kernel(const NormShape& shape, const NormBackward& work);

/// Shared backward that runs inside the data gradient of the convolution that reads the result. `work.dy` is never
/// stored, `work.partial` has one slot per thread, and `work.constants` are those of the forward.
struct FusedNormBackward {
  NormShape shape;
  NormBackward work;
};

/// Operands of the pass that finishes a shared gradient: dx = istd (G - A - B xhat).
struct NormFinish {
  TensorId value = -1;
  TensorId gradient = -1;
  TensorId sums = -1;
  TensorId statistics = -1;
  TensorId dx = -1;
  TensorId constants = -1;
};
[[nodiscard]] std::unique_ptr<Kernel> finish_kernel(const NormShape& shape, NormFinish work);

}  // namespace roentgen::engine::cpu
