// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Host side of the norm kernels: checks of their extents and the grid of their launches.
#pragma once

#include "engine/cuda/norm/norm.h"

namespace roentgen::engine::cuda {

inline constexpr int kWide = 8;           ///< channels of a thread
inline constexpr int kNormThreads = 384;  ///< threads of a block
inline constexpr int kNormBlocks = 2;     ///< blocks that a multiprocessor runs at once
inline constexpr int kLoads = 4;          ///< loads of 16 bytes that a thread has in flight
/// Most packs of a tile where kernels sum: many narrow tiles, so that the last block of each has little to add up.
inline constexpr int kSumLanes = 8;
/// Most packs of a tile where kernels only map: 256 bytes of a row in bf16.
inline constexpr int kMapLanes = 16;

/// Rows that a thread reads at once from so many tensors.
template <int Tensors>
inline constexpr int kRowsAtATime = kLoads / Tensors > 0 ? kLoads / Tensors : 1;

/// Division of the rows and channels. A block has one tile of the channels and every row_blocks-th stretch of rows.
struct NormGrid {
  int lanes = 1;         ///< packs of 8 channels of a tile
  int tiles = 1;         ///< tiles of the channels
  int row_blocks = 1;    ///< blocks of a tile
  int rows_at_once = 1;  ///< rows that the threads of a block have side by side
};

/// ConfigError naming the field unless the kernels can do the shape.
void check_norm(const NormShape& shape);
/// Division of the work among blocks that all run at once, in tiles of kSumLanes or kMapLanes packs. `blocks`: that a
/// multiprocessor runs at once.
[[nodiscard]] NormGrid norm_grid(const NormShape& shape, int most_lanes, int blocks = kNormBlocks);
}  // namespace roentgen::engine::cuda
