// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Vector loops of Winograd's convolutions (Lavin & Gray, arXiv 1509.09308): transforms of one tile in one channel
// block, and the products of one position. Highway selects the instruction set at run time.
//
// A tile is 4x4 outputs and the inputs that they need, 6x6 for a 3x3 window. Along an axis with one tap, a tile is one
// wide. `block` is 8 or 16 channels, the innermost axis of all data. Positions of a tile are numbered row by row. In
// transformed data and transformed weights they are `position_stride` floats apart. All windows must be known
// (winograd_window.h).
#pragma once

#include <cstdint>

#include "engine/cpu/plan/bf16.h"
#include "engine/cpu/simd/fetching.h"
#include "engine/cpu/simd/winograd_window.h"

namespace roentgen::engine::cpu::simd {

/// Tile in an image plane [height][width][block], from (row, column) on. It may begin at negative coordinates, or
/// extend beyond row_end and column_end. Values outside read as zero and are not written.
template <class T>
struct PlaneTile {
  T* plane = nullptr;
  std::int64_t width = 0;
  std::int64_t row_end = 0;     ///< first row past the valid part; at most the plane's height
  std::int64_t column_end = 0;  ///< first column past the valid part; at most the plane's width
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// Normalisation of the read values. With a scale, they are values * scale + shift per channel, then max(., 0) if
/// `relu`, as in batch norm.
struct TileNorm {
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;
};
/// Computes to = B^T d B for the values d at `from`, after normalisation (and rounding, as if normalised values were
/// stored).
void winograd_input(const WinogradWindow& window, const PlaneTile<const float>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride);
void winograd_input(const WinogradWindow& window, const PlaneTile<const Bf16>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride);
/// Work on outputs before they are written: act(output + bias + the value in memory).
struct WinogradEpilogue {
  const float* bias = nullptr;  ///< `block` floats that are added to each output; null: none
  bool adds = false;            ///< adds the value in memory to the output
  bool relu = false;
};
/// Computes the outputs A^T m A, applies the epilogue and writes them to `to`.
void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<float>& to);
void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<Bf16>& to);
/// Computes to = A y A^T for the gradients y at `from`.
void winograd_gradient(const WinogradWindow& window, const PlaneTile<float>& from, int block, float* to,
                       std::int64_t position_stride);
void winograd_gradient(const WinogradWindow& window, const PlaneTile<Bf16>& from, int block, float* to,
                       std::int64_t position_stride);
/// Computes to = G g G^T for the window's taps g, which are `tap_stride` floats apart.
void winograd_weights(const WinogradWindow& window, const float* taps, std::int64_t tap_stride, int block, float* to,
                      std::int64_t position_stride);
/// Transformed weights, given as several arrays (lanes) whose sum they are.
struct WinogradLanes {
  const float* base = nullptr;
  std::int64_t position_stride = 0;
  std::int64_t lanes = 1;
  std::int64_t lane_stride = 0;  ///< floats
};
/// Computes the window's taps G^T u G, `tap_stride` floats apart, where u is the sum of the lanes. Adds lanes in order.
void winograd_weights_gradient(const WinogradWindow& window, const WinogradLanes& from, int block, float* taps,
                               std::int64_t tap_stride);

/// Largest number of result channel blocks in one product.
constexpr std::int64_t kMostWinogradGroup = 4;

/// Product of one position and one group of result blocks: result[tile][group] = sum over channels of values * weights.
struct WinogradProduct {
  const float* values = nullptr;   ///< values [in block][tile][block]; blocks are `row_stride` floats apart
  const float* weights = nullptr;  ///< weights in the layout [in channel][group * block]
  float* result = nullptr;         ///< result [group][tile][block]; blocks are `row_stride` floats apart
  std::int64_t row_stride = 0;
  std::int64_t tiles = 0;
  std::int64_t in_blocks = 0;
  int group = 1;
  int block = 16;
  Fetching* fetching = nullptr;  ///< prefetches lines while the product counts tiles times channel blocks
};
/// Reads the values once per group, and the weights once per few tiles.
void winograd_product(const WinogradProduct& work);

/// Weight gradient of one position and one group: weights[in channel][group * block] = (or +=) sum over tiles of values
/// * gradients.
struct WinogradGradientProduct {
  const float* values = nullptr;     ///< [in block][tile][block]
  const float* gradients = nullptr;  ///< [group][tile][block]
  float* weights = nullptr;          ///< result in the layout [in channel][group * block]
  std::int64_t row_stride = 0;       ///< floats from block to block of values and gradients
  std::int64_t tiles = 0;
  std::int64_t in_blocks = 0;
  int group = 1;
  int block = 16;
  bool is_accumulating = false;
  Fetching* fetching = nullptr;  ///< prefetches lines while the product counts tiles times channels of values
};
/// Adds the tiles in order, in f32.
void winograd_gradient_product(const WinogradGradientProduct& work);

}  // namespace roentgen::engine::cpu::simd
