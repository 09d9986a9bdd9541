// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How the norm kernels divide (rows, channels) among blocks and threads, and sums over a block and over all blocks.
// Each thread works on 8 neighbouring channels.
#pragma once

#include "engine/cuda/launch.h"
#include "engine/cuda/norm/grid.h"

namespace roentgen::engine::cuda {

/// Launch size for a division of the work.
[[nodiscard]] inline Grid launch_grid(const NormGrid& grid) {
  return {.blocks = dim3(static_cast<unsigned>(grid.tiles), static_cast<unsigned>(grid.row_blocks)),
          .threads = dim3(kNormThreads)};
}

/// Rows and channels that one thread works on.
struct ThreadPart {
  std::int64_t rows;   ///< number of rows of the tensor
  int lane, row_lane;  ///< index of the pack in the tile, and of the row among rows_at_once
  int channel;         ///< index of the first of the thread's 8 channels
  bool is_active;      ///< false if the thread has no work
};

__device__ inline ThreadPart part_of_thread(const NormGrid& grid, std::int64_t rows, int channels) {
  ThreadPart part{};
  const int thread = static_cast<int>(threadIdx.x);
  part.rows = rows;
  part.row_lane = thread / grid.lanes;
  part.lane = thread - part.row_lane * grid.lanes;
  part.channel = (static_cast<int>(blockIdx.x) * grid.lanes + part.lane) * kWide;
  part.is_active = part.row_lane < grid.rows_at_once && part.channel < channels;
  return part;
}

static_assert(2 * kSumLanes * kWide <= kNormThreads);

/// Calls body<true>(first) for each group of `Unroll` rows of a thread, which are first + i * rows_at_once. For the
/// last group it calls body<false>(first), which must skip rows from part.rows on.
template <int Unroll, typename Body>
__device__ inline void for_rows(const ThreadPart& part, const NormGrid& grid, const Body& body) {
  const std::int64_t stretch = Unroll * grid.rows_at_once;
  const std::int64_t step = stretch * gridDim.y;
  std::int64_t row = stretch * blockIdx.y + part.row_lane;
  for (; row + (Unroll - 1) * grid.rows_at_once < part.rows; row += step) body.template operator()<true>(row);
  if (row < part.rows) body.template operator()<false>(row);
}
/// Variant of for_rows() that goes from the last group to the first.
template <int Unroll, typename Body>
__device__ inline void for_rows_backward(const ThreadPart& part, const NormGrid& grid, const Body& body) {
  const std::int64_t stretch = Unroll * grid.rows_at_once;
  const std::int64_t step = stretch * gridDim.y;
  const std::int64_t begin = stretch * blockIdx.y + part.row_lane;
  if (begin >= part.rows) return;
  std::int64_t row = begin + (part.rows - begin - 1) / step * step;
  body.template operator()<false>(row);
  for (row -= step; row >= begin; row -= step) body.template operator()<true>(row);
}

/// Pack of 8 neighbouring float32 values.
using Eight = Pack<float, kWide>;

/// Shared memory of begin_sums() and finish_sums(). Each row of `by_thread` begins 4 banks after the previous one, so
/// that 8 rows are read without bank conflicts.
struct SumMemory {
  float (&by_thread)[2 * kWide][kNormThreads + 4];
  float (&totals)[2 * kSumLanes * kWide];  ///< sums of the first values, then of the second: lanes * 8 channels each
};
#define RG_SUM_MEMORY(name)                                          \
  RG_SHARED(float, name##_by_thread, [2 * kWide][kNormThreads + 4]); \
  RG_SHARED(float, name##_totals, [2 * kSumLanes * kWide]);          \
  const SumMemory name { name##_by_thread, name##_totals }

/// Sums a and b over the threads of the block into memory.totals. The caller must synchronise the block before it reads
/// them.
__device__ inline void sum_over_block(const Eight& a, const Eight& b, const NormGrid& grid, const SumMemory& memory) {
  const int thread = static_cast<int>(threadIdx.x);
  RG_UNROLL
  for (int i = 0; i < kWide; ++i) {
    memory.by_thread[i][thread] = a.at[i];
    memory.by_thread[kWide + i][thread] = b.at[i];
  }
  __syncthreads();
  // There are more threads than values, so several threads sum parts of the same value.
  const int tile_channels = grid.lanes * kWide, values = 2 * tile_channels, shares = kNormThreads / values;
  const int share = thread / values, value = thread - share * values;
  const int which = value / tile_channels, channel = value - which * tile_channels;
  const float* const from = memory.by_thread[which * kWide + channel % kWide] + channel / kWide;
  float sum = 0.0F;
  if (share < shares) {
    for (int row = share; row < grid.rows_at_once; row += shares) sum += from[row * grid.lanes];
  }
  __syncthreads();
  float* const all = memory.by_thread[0];
  all[thread] = sum;
  __syncthreads();
  if (thread < values) {
    float total = 0.0F;
    for (int i = 0; i < shares; ++i) total += all[i * values + thread];
    memory.totals[thread] = total;
  }
}

/// Sums `count` arrays, each laid out like memory.totals, into memory.totals. Every thread may read it on return.
__device__ inline void sum_arrays(const float* arrays, int count, const NormGrid& grid, const SumMemory& memory) {
  // Each thread sums four values of every strands-th array. Then the threads of the first strand add the sums of all
  // strands.
  const int values = 2 * grid.lanes * kWide, packs = values / 4, strands = kNormThreads / packs;
  const int thread = static_cast<int>(threadIdx.x), strand = thread / packs, pack = thread - strand * packs;
  if (strand < strands) {
    Pack<float, 4> sum{};
    constexpr int kAtOnce = 12;
    for (int first = strand; first < count; first += kAtOnce * strands) {
      Pack<float, 4> read[kAtOnce];
      RG_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const int array = first + i * strands;
        read[i] = {};
        if (array < count) read[i] = load_shared_result<4>(arrays + array * values + pack * 4);
      }
      RG_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        RG_UNROLL
        for (int k = 0; k < 4; ++k) sum.at[k] += read[i].at[k];
      }
    }
    RG_UNROLL
    for (int k = 0; k < 4; ++k) memory.by_thread[k][thread] = sum.at[k];
  }
  __syncthreads();
  if (strand == 0) {
    RG_UNROLL
    for (int k = 0; k < 4; ++k) {
      float total = 0.0F;
      for (int i = 0; i < strands; ++i) total += memory.by_thread[k][thread + i * packs];
      memory.totals[pack * 4 + k] = total;
    }
  }
  __syncthreads();
}

/// Sums a and b over the block. Returns true in the last block of a tile, which must then call finish_sums().
__device__ inline bool begin_sums(const Eight& a, const Eight& b, const NormGrid& grid, float* partials,
                                  unsigned* counters, const SumMemory& memory) {
  sum_over_block(a, b, grid, memory);
  __syncthreads();
  if (grid.row_blocks == 1) return true;
  const int values = 2 * grid.lanes * kWide;
  const int block = static_cast<int>(blockIdx.x) * grid.row_blocks + static_cast<int>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < values) partials[static_cast<std::int64_t>(block) * values + thread] = memory.totals[thread];
  return is_last_block(counters + blockIdx.x, gridDim.y);
}
/// Adds the sums of all blocks of the tile in a fixed order. The result is in memory.totals.
__device__ inline void finish_sums(const NormGrid& grid, const float* partials, const SumMemory& memory) {
  if (grid.row_blocks == 1) return;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * grid.row_blocks * 2 * grid.lanes * kWide;
  sum_arrays(partials + first, grid.row_blocks, grid, memory);
}

}  // namespace roentgen::engine::cuda
