// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Host code of the norm kernels: checks of their shapes and sizes of their launches.
#pragma once

#include "engine/cuda/norm/norm.h"

namespace roentgen::engine::cuda {

inline constexpr int kWide = 8;           ///< channels per thread
inline constexpr int kNormThreads = 384;  ///< threads per block
inline constexpr int kNormBlocks = 2;     ///< blocks that a multiprocessor runs concurrently
inline constexpr int kLoads = 4;          ///< 16-byte loads that a thread keeps in flight
/// Largest number of packs in a tile of kernels that sum. Tiles are narrow so that the last block of each has few
/// partial sums to add.
inline constexpr int kSumLanes = 8;
/// Largest number of packs in a tile of kernels that do not sum: 256 bytes of a row in bf16.
inline constexpr int kMapLanes = 16;

/// Number of rows that a thread loads at once if it reads `Tensors` tensors.
template <int Tensors>
inline constexpr int kRowsAtATime = kLoads / Tensors > 0 ? kLoads / Tensors : 1;

/// Division of rows and channels among blocks. Each block works on one tile of channels, and on every row_blocks-th
/// group of rows.
struct NormGrid {
  int lanes = 1;         ///< packs of 8 channels per tile
  int tiles = 1;         ///< number of tiles
  int row_blocks = 1;    ///< blocks per tile
  int rows_at_once = 1;  ///< rows that a block's threads process at the same time
};

/// Throws ConfigError naming the field if the kernels do not support the shape.
void check_norm(const NormShape& shape);
/// Divides the work so that all blocks run concurrently. Tiles have at most `most_lanes` packs: kSumLanes or kMapLanes.
/// @param blocks blocks that a multiprocessor runs concurrently
[[nodiscard]] NormGrid norm_grid(const NormShape& shape, int most_lanes, int blocks = kNormBlocks);
}  // namespace roentgen::engine::cuda
