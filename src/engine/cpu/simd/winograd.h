// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The vector loops of Winograd's convolutions (Lavin & Gray, arXiv 1509.09308): transforms of one tile in one channel
// block, and the products of one position. Dispatched by Highway at run time.
//
// A tile is 4x4 outputs and the inputs they need, 6x6 for a window of 3x3. Along an axis of one tap it is one wide.
// `block` is 8 or 16 channels, the innermost axis of everything. Position p of transformed data lies `position_stride`
// floats after position p - 1, row by row of the tile; so do transformed weights. Windows are known ones
// (winograd_window.h).
#pragma once

#include <cstdint>

#include "engine/cpu/plan/bf16.h"
#include "engine/cpu/simd/fetching.h"
#include "engine/cpu/simd/winograd_window.h"

namespace roentgen::engine::cpu::simd {

/// Part of an image plane [height][width][block]: the part of a tile inside it, from (row, column) on. These may be
/// negative, or reach beyond row_end and column_end. Values outside read as zero and are not written.
template <class T>
struct PlaneTile {
  T* plane = nullptr;
  std::int64_t width = 0;
  std::int64_t row_end = 0;     ///< at most the plane's height
  std::int64_t column_end = 0;  ///< at most width
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// With a scale: values * scale + shift of `block` channels, and with `relu` max(., 0) of it, as batch norms have it.
struct TileNorm {
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;
};
/// to = B^T d B for the values d at `from`, normalised (and rounded, as if that were stored).
void winograd_input(const WinogradWindow& window, const PlaneTile<const float>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride);
void winograd_input(const WinogradWindow& window, const PlaneTile<const Bf16>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride);
/// Epilogue of outputs before they are written: act(output + bias + the value in memory).
struct WinogradEpilogue {
  const float* bias = nullptr;  ///< block floats, or null
  bool adds = false;            ///< adds what lies at the place that is written
  bool relu = false;
};
/// The outputs A^T m A, with the epilogue, written at `to`.
void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<float>& to);
void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<Bf16>& to);
/// to = A y A^T for the gradients y at `from`.
void winograd_gradient(const WinogradWindow& window, const PlaneTile<float>& from, int block, float* to,
                       std::int64_t position_stride);
void winograd_gradient(const WinogradWindow& window, const PlaneTile<Bf16>& from, int block, float* to,
                       std::int64_t position_stride);
/// to = G g G^T for the window's taps g, `tap_stride` floats apart.
void winograd_weights(const WinogradWindow& window, const float* taps, std::int64_t tap_stride, int block, float* to,
                      std::int64_t position_stride);
/// Transformed weights that are sums of several lanes, which lie apart.
struct WinogradLanes {
  const float* base = nullptr;
  std::int64_t position_stride = 0;
  std::int64_t lanes = 1;
  std::int64_t lane_stride = 0;  ///< floats
};
/// The window's taps G^T u G of the lanes' sums u, `tap_stride` floats apart. Adds lanes up in order.
void winograd_weights_gradient(const WinogradWindow& window, const WinogradLanes& from, int block, float* taps,
                               std::int64_t tap_stride);

/// Largest number of channel blocks of the result in one product.
constexpr std::int64_t kMostWinogradGroup = 4;

/// One position, one group of result blocks: result[tile][group] = sum over channels of values * weights.
struct WinogradProduct {
  const float* values = nullptr;   ///< [in block][tile][block], in blocks `row_stride` floats apart
  const float* weights = nullptr;  ///< [in channel][group * block]
  float* result = nullptr;         ///< [group][tile][block], blocks `row_stride` floats apart
  std::int64_t row_stride = 0;
  std::int64_t tiles = 0;
  std::int64_t in_blocks = 0;
  int group = 1;
  int block = 16;
  Fetching* fetching = nullptr;  ///< prefetch that counts tiles times channel blocks
};
/// Reads the values once for every group, the weights once for every few tiles.
void winograd_product(const WinogradProduct& work);

/// One position, one group: weights[in channel][group * block] = (or +=) sum over tiles of values * gradients.
struct WinogradGradientProduct {
  const float* values = nullptr;     ///< [in block][tile][block]
  const float* gradients = nullptr;  ///< [group][tile][block]
  float* weights = nullptr;          ///< [in channel][group * block]
  std::int64_t row_stride = 0;       ///< of both, in floats
  std::int64_t tiles = 0;
  std::int64_t in_blocks = 0;
  int group = 1;
  int block = 16;
  bool is_accumulating = false;
  Fetching* fetching = nullptr;  ///< prefetch that counts tiles times channels of values
};
/// Sums over the tiles in order, in f32.
void winograd_gradient_product(const WinogradGradientProduct& work);

}  // namespace roentgen::engine::cpu::simd
