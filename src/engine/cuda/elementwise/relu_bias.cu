// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of relu_bias.h.
#include "engine/cuda/elementwise/relu_bias.h"

#include "engine/cuda/norm/tile.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

// Grid: x tiles of channels, y blocks that divide the rows. A thread has 8 channels and keeps four loads in flight.
// Reads y and dy, writes dx: 6 bytes per element in bf16. The last block of a tile adds the sums of all its blocks.
template <typename T>
__global__ void __launch_bounds__(kNormThreads, kNormBlocks)
    relu_bias_kernel(const T* y, const T* dy, T* dx, float* sums, std::int64_t rows, int channels, NormGrid grid,
                     float* partials, unsigned* counters) {
  constexpr int kUnroll = kRowsAtATime<2>;
  RG_SUM_MEMORY(memory);
  const ThreadPart part = part_of_thread(grid, rows, channels);
  Eight sum{};
  if (part.is_active) {
    for_rows<kUnroll>(part, grid, [&]<bool Whole>(std::int64_t first) {
      Pack<T, kWide> value[kUnroll], gradient[kUnroll];
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t row = first + u * grid.rows_at_once;
        if (!Whole && row >= part.rows) continue;
        value[u] = load_pack<kWide>(y + row * channels + part.channel);
        gradient[u] = load_pack<kWide>(dy + row * channels + part.channel);
      }
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t row = first + u * grid.rows_at_once;
        if (!Whole && row >= part.rows) continue;
        Pack<T, kWide> masked;
        RG_UNROLL
        for (int i = 0; i < kWide; ++i) {
          const float g = to_float(value[u].at[i]) > 0.0F ? to_float(gradient[u].at[i]) : 0.0F;
          convert(g, masked.at[i]);
          sum.at[i] += g;
        }
        store_pack(dx + row * channels + part.channel, masked);
      }
    });
  }
  if (!begin_sums(sum, Eight{}, grid, partials, counters, memory)) return;
  finish_sums(grid, partials, memory);
  const int tile_channels = grid.lanes * kWide, i = static_cast<int>(threadIdx.x);
  const int channel = static_cast<int>(blockIdx.x) * tile_channels + i;
  if (i < tile_channels && channel < channels) sums[channel] = memory.totals[i];
}

}  // namespace

void relu_bias_gradient(runtime::Stream& stream, const NormShape& shape, const ReluBias& work,
                        const NormScratch& scratch) {
  const NormGrid grid = norm_grid(shape, kSumLanes);
  with_type(shape.type, [&](auto number) {
    using T = decltype(number);
    launch(stream, "launch of relu_bias_gradient", launch_grid(grid), &relu_bias_kernel<T>,
           reinterpret_cast<const T*>(work.y), reinterpret_cast<const T*>(work.dy), reinterpret_cast<T*>(work.dx),
           work.sums, shape.rows, shape.channels, grid, scratch.partials, scratch.counters);
  });
}

}  // namespace roentgen::engine::cuda
