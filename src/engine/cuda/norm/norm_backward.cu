// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Backward kernels of batch norm (norm.h).
#include "engine/cuda/norm/tile.h"

namespace roentgen::engine::cuda {
namespace {

/// NormSums with pointers to T.
template <typename T>
struct SumsWork {
  const T* x;
  const T* dy;
  const T* second;
  const std::uint8_t* passed;
  T* masked;
  const float* mean;
  const float* inv_std;
  const float* scale;
  const float* shift;
  float* dgamma;
  float* dbeta;
  float* slope;
  float* offset;
  double over_count;  // 1 / count
};

// Finishes a channel: dx = scale * (g - dbeta / n - (x - mean) * inv_std * dgamma / n) as scale * g - slope * x +
// offset.
template <typename T>
__device__ void finish_channel(const SumsWork<T>& work, int channel, const float (&before)[3], double sum,
                               double product) {
  const double mean = before[0], inv_std = before[1], scale = before[2];
  const double dgamma = product * inv_std;
  const double slope = scale * inv_std * dgamma * work.over_count;
  work.dbeta[channel] = static_cast<float>(sum);
  work.dgamma[channel] = static_cast<float>(dgamma);
  work.slope[channel] = static_cast<float>(slope);
  work.offset[channel] = static_cast<float>(slope * mean - scale * sum * work.over_count);
}

// Sums g and g * (x - mean) over the rows, where g is the incoming gradient where the ReLU passed, else 0. Grid: x
// tiles of channels, y blocks that divide the rows. Reads each operand once: 4 to 6 1/8 bytes per element in bf16.
// Writes g if asked: 2 more.
template <typename T, NormMask Mask, bool Second, bool Masked>
__global__ void __launch_bounds__(kNormThreads, kNormBlocks)
    sums_kernel(SumsWork<T> work, std::int64_t rows, int channels, NormGrid grid, float* partials, unsigned* counters) {
  constexpr int kUnroll = kRowsAtATime<(Second ? 3 : 2)>;
  RG_SUM_MEMORY(memory);
  const ThreadPart part = part_of_thread(grid, rows, channels);
  Eight sum{}, product{};
  if (part.is_active) {
    const Eight mean = load_pack<kWide>(work.mean + part.channel);
    Eight scale{}, shift{};
    if constexpr (Mask == NormMask::Recomputed) {
      scale = load_pack<kWide>(work.scale + part.channel);
      shift = load_pack<kWide>(work.shift + part.channel);
    }
    for_rows<kUnroll>(part, grid, [&]<bool Whole>(std::int64_t first) {
      Pack<T, kWide> x[kUnroll], dy[kUnroll];
      [[maybe_unused]] Pack<T, kWide> second[kUnroll];
      [[maybe_unused]] unsigned bits[kUnroll];
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t row = first + u * grid.rows_at_once;
        if (!Whole && row >= part.rows) continue;
        const std::int64_t at = row * channels + part.channel;
        x[u] = load_pack<kWide>(work.x + at);
        dy[u] = load_pack<kWide>(work.dy + at);
        if constexpr (Second) second[u] = load_pack<kWide>(work.second + at);
        if constexpr (Mask == NormMask::Bits) bits[u] = work.passed[at / kWide];
      }
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t row = first + u * grid.rows_at_once;
        if (!Whole && row >= part.rows) continue;
        [[maybe_unused]] Pack<T, kWide> masked;
        RG_UNROLL
        for (int i = 0; i < kWide; ++i) {
          const float value = to_float(x[u].at[i]);
          float g = to_float(dy[u].at[i]);
          if constexpr (Second) g += to_float(second[u].at[i]);
          if constexpr (Mask == NormMask::Bits) g = (bits[u] >> i & 1U) != 0 ? g : 0.0F;
          if constexpr (Mask == NormMask::Recomputed) g = fmaf(value, scale.at[i], shift.at[i]) > 0.0F ? g : 0.0F;
          if constexpr (Masked) {
            convert(g, masked.at[i]);
            g = to_float(masked.at[i]);
          }
          sum.at[i] += g;
          product.at[i] = fmaf(g, value - mean.at[i], product.at[i]);
        }
        if constexpr (Masked) store_pack(work.masked + row * channels + part.channel, masked);
      }
    });
  }
  if (!begin_sums(sum, product, grid, partials, counters, memory)) return;
  const int tile_channels = grid.lanes * kWide, i = static_cast<int>(threadIdx.x);
  const int channel = static_cast<int>(blockIdx.x) * tile_channels + i;
  const bool has_channel = i < tile_channels && channel < channels;
  float before[3] = {};
  if (has_channel) before[0] = work.mean[channel], before[1] = work.inv_std[channel], before[2] = work.scale[channel];
  finish_sums(grid, partials, memory);
  if (has_channel) finish_channel(work, channel, before, memory.totals[i], memory.totals[tile_channels + i]);
}

/// NormGradient with pointers to T.
template <typename T>
struct GradientWork {
  const T* x;
  const T* dy;
  const float* scale;
  const float* shift;
  const float* slope;
  const float* offset;
  T* dx;
};

// Computes dx = scale * g - slope * x + offset. Same grid as sums_kernel(), but from the last row, which is most
// recently in cache. Reads x and g, writes dx: 6 bytes per element in bf16.
template <typename T, bool Masks>
__global__ void __launch_bounds__(kNormThreads, kNormBlocks)
    gradient_kernel(GradientWork<T> work, std::int64_t rows, int channels, NormGrid grid) {
  constexpr int kUnroll = kRowsAtATime<2>;
  const ThreadPart part = part_of_thread(grid, rows, channels);
  if (!part.is_active) return;
  Eight scale;
  RG_UNROLL
  for (int i = 0; i < kWide; ++i) scale.at[i] = 1.0F;
  if (work.scale != nullptr) scale = load_pack<kWide>(work.scale + part.channel);
  const Eight slope = load_pack<kWide>(work.slope + part.channel);
  const Eight offset = load_pack<kWide>(work.offset + part.channel);
  Eight shift{};
  if constexpr (Masks) shift = load_pack<kWide>(work.shift + part.channel);
  for_rows_backward<kUnroll>(part, grid, [&]<bool Whole>(std::int64_t first) {
    Pack<T, kWide> x[kUnroll], dy[kUnroll];
    RG_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t row = first + u * grid.rows_at_once;
      if (!Whole && row >= part.rows) continue;
      x[u] = load_pack<kWide>(work.x + row * channels + part.channel);
      dy[u] = load_pack<kWide>(work.dy + row * channels + part.channel);
    }
    RG_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t row = first + u * grid.rows_at_once;
      if (!Whole && row >= part.rows) continue;
      Pack<T, kWide> dx;
      RG_UNROLL
      for (int i = 0; i < kWide; ++i) {
        const float value = to_float(x[u].at[i]);
        float g = to_float(dy[u].at[i]);
        if constexpr (Masks) g = fmaf(value, scale.at[i], shift.at[i]) > 0.0F ? g : 0.0F;
        convert(fmaf(scale.at[i], g, fmaf(-slope.at[i], value, offset.at[i])), dx.at[i]);
      }
      store_pack(work.dx + row * channels + part.channel, dx);
    }
  });
}

template <typename T, NormMask Mask>
auto choose_operands(const NormSums& work) {
  if (work.second != nullptr && work.masked != nullptr) return &sums_kernel<T, Mask, true, true>;
  if (work.second != nullptr) return &sums_kernel<T, Mask, true, false>;
  return work.masked != nullptr ? &sums_kernel<T, Mask, false, true> : &sums_kernel<T, Mask, false, false>;
}
template <typename T>
auto choose(const NormSums& work) {
  if (work.mask == NormMask::Bits) return choose_operands<T, NormMask::Bits>(work);
  if (work.mask == NormMask::Recomputed) return choose_operands<T, NormMask::Recomputed>(work);
  return choose_operands<T, NormMask::None>(work);
}

template <typename T>
void sums(runtime::Stream& stream, const NormShape& shape, const NormSums& work, const NormScratch& scratch) {
  const NormGrid grid = norm_grid(shape, kSumLanes);
  const SumsWork<T> of_type{static_cast<const T*>(work.x),
                            static_cast<const T*>(work.dy),
                            static_cast<const T*>(work.second),
                            work.passed,
                            static_cast<T*>(work.masked),
                            work.mean,
                            work.inv_std,
                            work.scale,
                            work.shift,
                            work.dgamma,
                            work.dbeta,
                            work.slope,
                            work.offset,
                            1.0 / static_cast<double>(work.count != 0 ? work.count : shape.rows)};
  launch(stream, "launch of norm_gradient_sums", launch_grid(grid), choose<T>(work), of_type, shape.rows,
         shape.channels, grid, scratch.partials, scratch.counters);
}

template <typename T>
void gradient(runtime::Stream& stream, const NormShape& shape, const NormGradient& work) {
  const NormGrid grid = norm_grid(shape, kMapLanes);
  const GradientWork<T> of_type{
      static_cast<const T*>(work.x), static_cast<const T*>(work.dy), work.scale, work.shift, work.slope, work.offset,
      static_cast<T*>(work.dx)};
  const auto kernel = work.mask == NormMask::Recomputed ? &gradient_kernel<T, true> : &gradient_kernel<T, false>;
  launch(stream, "launch of norm_gradient_apply", launch_grid(grid), kernel, of_type, shape.rows, shape.channels, grid);
}

}  // namespace

void norm_gradient_sums(runtime::Stream& stream, const NormShape& shape, const NormSums& work,
                        const NormScratch& scratch) {
  if (shape.type == DType::Bf16) return sums<Bf16>(stream, shape, work, scratch);
  if (shape.type == DType::F16) return sums<F16>(stream, shape, work, scratch);
  sums<float>(stream, shape, work, scratch);
}

void norm_gradient_apply(runtime::Stream& stream, const NormShape& shape, const NormGradient& work) {
  if (shape.type == DType::Bf16) return gradient<Bf16>(stream, shape, work);
  if (shape.type == DType::F16) return gradient<F16>(stream, shape, work);
  gradient<float>(stream, shape, work);
}

}  // namespace roentgen::engine::cuda
