// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norm of a concatenation that is never stored (DenseNet). Its segments stay where their layers wrote them, each
// of shape (rows, channels of the segment). Forward reads every segment once and writes one contiguous result.
// norm_moments() computes the moments of a segment once, for all norms that read it.
//
// Backward: the gradient of a segment is a sum over the norms k that read it, where g = dy if the ReLU passed, else 0:
//   dx = G - slope * x + offset,  G = sum of scale_k * g_k,
//   slope = sum of scale_k * inv_std_k * dgamma_k / rows,  offset = sum of slope_k * mean - scale_k * dbeta_k / rows
// (Ioffe & Szegedy 2015, section 3, with the terms that vary from row to row collected in G.) So each norm needs one
// pass that adds to G and computes sums, and norm_gradient_apply() finishes the segment. Two norms share a pass: it
// reads x, both dy and G, and writes G. Two separate passes would read x and G twice.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "engine/cuda/norm/norm.h"

namespace roentgen::engine::cuda {

/// Largest number of norms that share a pass of norm_segments_backward().
inline constexpr int kMostNorms = 2;

/// One segment (input) of a concatenation. Pointers are to device memory.
struct NormSegment {
  const void* x = nullptr;         ///< (rows, channels)
  const float* moments = nullptr;  ///< from norm_moments(): means, then variances, 2 * channels; null in inference
  int channels = 0;                ///< number of channels, a multiple of 8
  int begin = 0;                   ///< first channel of the segment in the norm
};

/// Operands of norm_segments_apply(): device memory with one element per channel of the norm, unless noted otherwise.
struct NormSegmentsApply {
  std::span<const NormSegment> segments;
  const float* gamma = nullptr;  ///< null in inference: scale and shift are then inputs
  const float* beta = nullptr;
  NormRunning running;     ///< updated in training
  float* scale = nullptr;  ///< output in training: gamma / sqrt(variance + epsilon)
  float* shift = nullptr;  ///< output in training: beta - mean * scale
  void* y = nullptr;       ///< (rows, channels)
  bool relu = true;
};
/// Computes y = relu(scale * x + shift). `shape` is that of y. Reads each segment once and writes y. One launch per 64
/// segments. Throws ConfigError naming the field if the kernel does not support the shape. One thread per stream.
void norm_segments_apply(runtime::Stream& stream, const NormShape& shape, const NormSegmentsApply& work);

/// One norm of a backward pass: device memory with `channels` elements, unless noted otherwise.
struct NormSegmentsGradient {
  const void* dy = nullptr;  ///< (rows, channels)
  int channels = 0;          ///< number of channels of the norm
  const float* scale = nullptr;
  const float* shift = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float epsilon = 1e-5F;
  bool relu = true;
};
/// One segment of a backward pass. Pointers are to device memory.
struct SegmentGradient {
  const void* x = nullptr;              ///< (rows, channels)
  const float* moments = nullptr;       ///< moments in the form of NormSegment::moments
  void* sum = nullptr;                  ///< sum G of gradients, in the shape of x; null: the segment needs no gradient
  float* slopes = nullptr;              ///< slopes, then offsets: 2 * channels; null if `sum` is null
  int channels = 0;                     ///< number of channels, a multiple of 8
  std::array<int, kMostNorms> begin{};  ///< first channel of the segment in each norm
  bool is_first = false;                ///< this pass overwrites sum and slopes instead of adding to them
};
/// Operands of norm_segments_backward().
struct NormSegmentsBackward {
  std::span<const SegmentGradient> segments;
  std::array<NormSegmentsGradient, kMostNorms> norms{};
  int norm_count = 1;  ///< 1 or 2
};
/// Number of scratch elements for a pass over segments that have `shape.channels` channels in total.
[[nodiscard]] std::size_t norm_segments_partials(const NormShape& shape, int norm_count);
[[nodiscard]] std::size_t norm_segments_counters(const NormShape& shape, int norm_count);
/// Adds to G and the slopes of all segments, and writes their channels of dgamma and dbeta. `shape.channels` is the
/// total of all segments. Reads x, every dy and G once; writes G. One launch per 64 segments. Throws ConfigError as
/// norm_segments_apply() does. One thread per stream.
void norm_segments_backward(runtime::Stream& stream, const NormShape& shape, const NormSegmentsBackward& work,
                            const NormScratch& scratch);

}  // namespace roentgen::engine::cuda
