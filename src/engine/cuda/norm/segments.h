// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norm of a concatenation that is stored nowhere (DenseNet): its segments lie where their layers wrote them, each
// (rows, channels of the segment). Forward reads every segment once and writes one contiguous result. The moments of a
// segment are taken once, by norm_moments(), for all norms that read it.
//
// Backward: the gradient of a segment is a sum over the norms k that read it, with g = dy where the ReLU passed, else
// 0:
//   dx = G - slope * x + offset,  G = sum of scale_k * g_k,
//   slope = sum of scale_k * inv_std_k * dgamma_k / rows,  offset = sum of slope_k * mean - scale_k * dbeta_k / rows
// (Ioffe & Szegedy 2015, section 3, sorted by what varies from row to row). So one pass a norm adds to G and sums, and
// norm_gradient_apply() closes the segment. Two norms share a pass: it reads x, both dy and G, and writes G, where two
// passes would read x and G twice.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "engine/cuda/norm/norm.h"

namespace roentgen::engine::cuda {

/// Most norms that share a pass of norm_segments_backward().
inline constexpr int kMostNorms = 2;

/// One segment. Device memory.
struct NormSegment {
  const void* x = nullptr;         ///< (rows, channels)
  const float* moments = nullptr;  ///< mean, then variance: 2 * channels, of norm_moments(); null in inference
  int channels = 0;                ///< a multiple of 8
  int begin = 0;                   ///< channel of the norm where the segment begins
};

/// Operands of norm_segments_apply(). Device memory, as many elements as the norm has channels unless said otherwise.
struct NormSegmentsApply {
  std::span<const NormSegment> segments;
  const float* gamma = nullptr;  ///< null: inference, where scale and shift are given
  const float* beta = nullptr;
  NormRunning running;     ///< moved in training
  float* scale = nullptr;  ///< written in training: gamma / sqrt(variance + epsilon)
  float* shift = nullptr;  ///< written in training: beta - mean * scale
  void* y = nullptr;       ///< (rows, channels)
  bool relu = true;
};
/// y = relu(scale * x + shift). `shape`: of y. Reads each segment once, writes y. One launch for every 64 segments.
/// ConfigError naming the field for an extent that the kernel cannot do. One thread a stream.
void norm_segments_apply(runtime::Stream& stream, const NormShape& shape, const NormSegmentsApply& work);

/// One norm of a pass backward. Device memory, `channels` elements unless said otherwise.
struct NormSegmentsGradient {
  const void* dy = nullptr;  ///< (rows, channels)
  int channels = 0;          ///< of the norm
  const float* scale = nullptr;
  const float* shift = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float epsilon = 1e-5F;
  bool relu = true;
};
/// A segment of a pass backward. Device memory.
struct SegmentGradient {
  const void* x = nullptr;              ///< (rows, channels)
  const float* moments = nullptr;       ///< as NormSegment::moments
  void* sum = nullptr;                  ///< G, as x; null: the segment needs no gradient
  float* slopes = nullptr;              ///< slope, then offset: 2 * channels; null with `sum`
  int channels = 0;                     ///< a multiple of 8
  std::array<int, kMostNorms> begin{};  ///< channel where the segment begins, in each norm
  bool is_first = false;                ///< sum and slopes begin with this pass
};
/// Operands of norm_segments_backward().
struct NormSegmentsBackward {
  std::span<const SegmentGradient> segments;
  std::array<NormSegmentsGradient, kMostNorms> norms{};
  int norm_count = 1;  ///< 1 or 2
};
/// Scratch elements of a pass over segments of `shape.channels` channels together.
[[nodiscard]] std::size_t norm_segments_partials(const NormShape& shape, int norm_count);
[[nodiscard]] std::size_t norm_segments_counters(const NormShape& shape, int norm_count);
/// Adds to G and the slopes of all segments, and writes their part of dgamma and dbeta. `shape`: channels of all
/// segments. Reads x, every dy and G once, writes G. One launch for every 64 segments. ConfigError as
/// norm_segments_apply(). One thread a stream.
void norm_segments_backward(runtime::Stream& stream, const NormShape& shape, const NormSegmentsBackward& work,
                            const NormScratch& scratch);

}  // namespace roentgen::engine::cuda
