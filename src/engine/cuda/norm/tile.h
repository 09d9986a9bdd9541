// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How the norm kernels divide (rows, channels) among blocks and threads, and the sums over a block and over all blocks.
// A thread has 8 neighbouring channels.
#pragma once

#include "engine/cuda/launch.h"
#include "engine/cuda/norm/grid.h"

namespace roentgen::engine::cuda {

/// The launch of a division.
[[nodiscard]] inline Grid launch_grid(const NormGrid& grid) {
  return {.blocks = dim3(static_cast<unsigned>(grid.tiles), static_cast<unsigned>(grid.row_blocks)),
          .threads = dim3(kNormThreads)};
}

/// The part of a thread.
struct ThreadPart {
  std::int64_t rows;   ///< of the tensor
  int lane, row_lane;  ///< place in the tile, and which of the rows side by side
  int channel;         ///< first of the 8 channels
  bool is_active;      ///< has channels and rows
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

/// Calls body<true>(first) for each stretch of `Unroll` rows of a thread, first + i * rows_at_once, and
/// body<false>(first) for the last one, where rows from part.rows on must be skipped.
template <int Unroll, typename Body>
__device__ inline void for_rows(const ThreadPart& part, const NormGrid& grid, const Body& body) {
  const std::int64_t stretch = Unroll * grid.rows_at_once;
  const std::int64_t step = stretch * gridDim.y;
  std::int64_t row = stretch * blockIdx.y + part.row_lane;
  for (; row + (Unroll - 1) * grid.rows_at_once < part.rows; row += step) body.template operator()<true>(row);
  if (row < part.rows) body.template operator()<false>(row);
}
/// for_rows() from the end.
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

/// 8 neighbouring float32.
using Eight = Pack<float, kWide>;

/// Shared memory of sum_over_rows(). A row of `by_thread` begins 4 banks after the one before, so that 8 of them are
/// read without conflicts.
struct SumMemory {
  float (&by_thread)[2 * kWide][kNormThreads + 4];
  float (&totals)[2 * kMostLanes *
                  kWide];  ///< both sums of the tile's channels: [lanes * 8] of the first, then the second
};
#define RG_SUM_MEMORY(name)                                          \
  RG_SHARED(float, name##_by_thread, [2 * kWide][kNormThreads + 4]); \
  RG_SHARED(float, name##_totals, [2 * kMostLanes * kWide]);         \
  const SumMemory name { name##_by_thread, name##_totals }

/// Arrays in device memory whose sum is still to be taken.
struct Partials {
  const float* first = nullptr;
  int count = 0;  ///< 0: the totals hold the sum
};

/// Sums of a and b over the threads of the block, to memory.totals. The caller waits for the block before it reads
/// them.
__device__ inline void sum_over_block(const Eight& a, const Eight& b, const NormGrid& grid, const SumMemory& memory) {
  const int thread = static_cast<int>(threadIdx.x);
  RG_UNROLL
  for (int i = 0; i < kWide; ++i) {
    memory.by_thread[i][thread] = a.at[i];
    memory.by_thread[kWide + i][thread] = b.at[i];
  }
  __syncthreads();
  // Several threads share a value where there are fewer values than threads.
  const int tile_channels = grid.lanes * kWide, values = 2 * tile_channels;
  const int shares = kNormThreads > values ? kNormThreads / values : 1;
  float sums[2] = {};  // at most 2 * kMostLanes * kWide values: two a thread
  RG_UNROLL
  for (int k = 0; k < 2; ++k) {
    const int item = thread + k * kNormThreads;
    if (item >= values * shares) continue;
    const int share = item / values, value = item - share * values;
    const int which = value / tile_channels, channel = value - which * tile_channels;
    const float* const from = memory.by_thread[which * kWide + channel % kWide] + channel / kWide;
    for (int row = share; row < grid.rows_at_once; row += shares) sums[k] += from[row * grid.lanes];
  }
  __syncthreads();
  float* const all = memory.by_thread[0];
  RG_UNROLL
  for (int k = 0; k < 2; ++k) {
    const int item = thread + k * kNormThreads;
    if (item < values * shares) all[item] = sums[k];
  }
  __syncthreads();
  for (int value = thread; value < values; value += kNormThreads) {
    float sum = 0.0F;
    for (int share = 0; share < shares; ++share) sum += all[share * values + value];
    memory.totals[value] = sum;
  }
}

/// Sum of arrays, each as memory.totals, to memory.totals, which every thread may read afterwards.
__device__ inline void collect(const Partials& partials, const NormGrid& grid, const SumMemory& memory) {
  if (partials.count == 0) return;
  // Each thread sums four values of every strand-th array; then the first strand sums the strands.
  const int values = 2 * grid.lanes * kWide, packs = values / 4, strands = kNormThreads / packs;
  const int thread = static_cast<int>(threadIdx.x), strand = thread / packs, pack = thread - strand * packs;
  if (strand < strands) {
    Pack<float, 4> sum{};
    constexpr int kAtOnce = 8;
    for (int first = strand; first < partials.count; first += kAtOnce * strands) {
      Pack<float, 4> read[kAtOnce];
      RG_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const int array = first + i * strands;
        read[i] = {};
        if (array < partials.count) read[i] = load_shared_result<4>(partials.first + array * values + pack * 4);
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

/// Sums a and b over all rows, in a fixed order: over the block, then over groups of blocks, then over the groups. True
/// in the last block of a tile, which has to collect(left). `partials` and `counters` are of NormScratch.
__device__ inline bool sum_over_rows(const Eight& a, const Eight& b, const NormGrid& grid, float* partials,
                                     unsigned* counters, const SumMemory& memory, Partials& left) {
  sum_over_block(a, b, grid, memory);
  const int values = 2 * grid.lanes * kWide, thread = static_cast<int>(threadIdx.x);
  const int block = static_cast<int>(blockIdx.y), group = block / kBlocksOfGroup;
  __syncthreads();
  if (grid.row_blocks == 1) return true;
  float* const of_tile = partials + static_cast<std::int64_t>(blockIdx.x) * (grid.row_blocks + grid.groups) * values;
  unsigned* const counters_of_tile = counters + static_cast<int>(blockIdx.x) * (grid.groups + 1);
  for (int i = thread; i < values; i += kNormThreads) of_tile[block * values + i] = memory.totals[i];
  const int blocks = grid.row_blocks - group * kBlocksOfGroup;
  const int blocks_of_group = blocks < kBlocksOfGroup ? blocks : kBlocksOfGroup;
  if (!is_last_block(counters_of_tile + group, static_cast<unsigned>(blocks_of_group))) return false;
  left = {of_tile + group * kBlocksOfGroup * values, blocks_of_group};
  if (grid.groups == 1) return true;
  collect(left, grid, memory);
  float* const of_groups = of_tile + grid.row_blocks * values;
  for (int i = thread; i < values; i += kNormThreads) of_groups[group * values + i] = memory.totals[i];
  if (!is_last_block(counters_of_tile + grid.groups, static_cast<unsigned>(grid.groups))) return false;
  left = {of_groups, grid.groups};
  return true;
}

}  // namespace roentgen::engine::cuda
