// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forward kernels of batch norm (norm.h).
#include "engine/cuda/norm/tile.h"

namespace roentgen::engine::cuda {
namespace {

/// Per-channel operands of a kernel, as in norm.h. Without gamma, only mean and variance are written.
struct Channels {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float* mean = nullptr;
  float* inv_std = nullptr;
  float* scale = nullptr;
  float* shift = nullptr;
  float* var = nullptr;
  float* running_mean = nullptr;
  float* running_var = nullptr;
  float momentum = 0.0F;
  float epsilon = 0.0F;
  double over_rows = 0.0;  // 1 / rows
  double unbiased = 0.0;   // rows / (rows - 1), the factor of the unbiased variance
};

/// Values that the kernel reads to finish one channel's statistics.
struct Before {
  float first, gamma, beta, running_mean, running_var;
};

// Writes all results for one channel. `sum` is the sum of x - first, `square` is the sum of (x - first)^2.
__device__ void finish_channel(const Channels& c, int channel, const Before& before, double sum, double square) {
  const double shifted_mean = sum * c.over_rows;
  const double mean = before.first + shifted_mean;
  double var = square * c.over_rows - shifted_mean * shifted_mean;
  if (var < 0.0) var = 0.0;
  if (c.gamma == nullptr) {
    c.mean[channel] = static_cast<float>(mean);
    c.var[channel] = static_cast<float>(var);
    return;
  }
  const float inv_std = 1.0F / sqrtf(static_cast<float>(var + static_cast<double>(c.epsilon)));
  const float scale = before.gamma * inv_std, rounded_mean = static_cast<float>(mean);
  c.mean[channel] = rounded_mean;
  c.inv_std[channel] = inv_std;
  c.scale[channel] = scale;
  c.shift[channel] = fmaf(-rounded_mean, scale, before.beta);
  const float unbiased = static_cast<float>(var * c.unbiased);
  // False for infinite values and NaN, from which running statistics would never recover.
  if (!(fabsf(rounded_mean) <= 3.4028235e38F && unbiased <= 3.4028235e38F)) return;
  c.running_mean[channel] = fmaf(c.momentum, rounded_mean - before.running_mean, before.running_mean);
  c.running_var[channel] = fmaf(c.momentum, unbiased - before.running_var, before.running_var);
}

// Computes mean and variance of every channel. Grid: x tiles of channels, y blocks that divide the rows. Reads x once:
// 2 bytes per element in bf16. Subtracts the first row from all values, so that the variance does not cancel (Chan,
// Golub & LeVeque 1983).
template <typename T>
__global__ void __launch_bounds__(kNormThreads, kNormBlocks)
    statistics_kernel(const T* __restrict__ x, std::int64_t rows, int channels, NormGrid grid, Channels c,
                      float* partials, unsigned* counters) {
  constexpr int kUnroll = kRowsAtATime<1>;
  RG_SUM_MEMORY(memory);
  const ThreadPart part = part_of_thread(grid, rows, channels);
  Eight sum{}, square{};
  if (part.is_active) {
    Eight first;
    const Pack<T, kWide> first_row = load_pack<kWide>(x + part.channel);
    RG_UNROLL
    for (int i = 0; i < kWide; ++i) first.at[i] = to_float(first_row.at[i]);
    for_rows<kUnroll>(part, grid, [&]<bool Whole>(std::int64_t row) {
      Pack<T, kWide> read[kUnroll];
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t r = row + u * grid.rows_at_once;
        if (Whole || r < part.rows) read[u] = load_pack<kWide>(x + r * channels + part.channel);
      }
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        if (!Whole && row + u * grid.rows_at_once >= part.rows) continue;
        RG_UNROLL
        for (int i = 0; i < kWide; ++i) {
          const float value = to_float(read[u].at[i]) - first.at[i];
          sum.at[i] += value;
          square.at[i] = fmaf(value, value, square.at[i]);
        }
      }
    });
  }
  if (!begin_sums(sum, square, grid, partials, counters, memory)) return;
  const int tile_channels = grid.lanes * kWide, i = static_cast<int>(threadIdx.x);
  const int channel = static_cast<int>(blockIdx.x) * tile_channels + i;
  const bool has_channel = i < tile_channels && channel < channels;
  Before before{};
  if (has_channel) before.first = to_float(x[channel]);
  if (has_channel && c.gamma != nullptr) {
    before.gamma = c.gamma[channel], before.beta = c.beta[channel];
    before.running_mean = c.running_mean[channel], before.running_var = c.running_var[channel];
  }
  finish_sums(grid, partials, memory);
  if (has_channel) finish_channel(c, channel, before, memory.totals[i], memory.totals[tile_channels + i]);
}

enum class Residual { None, Plain, Normalised };

template <typename T>
struct ApplyWork {
  const T* x;
  const T* residual;
  const float* residual_scale;
  const float* residual_shift;
  const float* scale;
  const float* shift;
  T* y;
  std::uint8_t* passed;
};

// Computes y = relu(scale * x + shift + residual), and one bit per element: 1 if the ReLU passed it. The grid is that
// of the statistics kernel, but goes from the last row. The statistics kernel read the last rows last, so they may
// still be in the L2 cache. NaN passes. Reads x and the residual, writes y and the bits: 4 to 6 1/8 bytes per element
// in bf16.
template <typename T, bool Relu, Residual Kind, bool Bits>
__global__ void __launch_bounds__(kNormThreads, kNormBlocks)
    apply_kernel(ApplyWork<T> work, std::int64_t rows, int channels, NormGrid grid) {
  constexpr int kUnroll = kRowsAtATime<(Kind == Residual::None ? 1 : 2)>;
  const ThreadPart part = part_of_thread(grid, rows, channels);
  if (!part.is_active) return;
  const Eight scale = load_pack<kWide>(work.scale + part.channel), shift = load_pack<kWide>(work.shift + part.channel);
  Eight residual_scale{}, residual_shift{};
  if constexpr (Kind == Residual::Normalised) {
    residual_scale = load_pack<kWide>(work.residual_scale + part.channel);
    residual_shift = load_pack<kWide>(work.residual_shift + part.channel);
  }
  for_rows_backward<kUnroll>(part, grid, [&]<bool Whole>(std::int64_t first) {
    Pack<T, kWide> x[kUnroll];
    [[maybe_unused]] Pack<T, kWide> residual[kUnroll];
    RG_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t row = first + u * grid.rows_at_once;
      if (!Whole && row >= part.rows) continue;
      x[u] = load_pack<kWide>(work.x + row * channels + part.channel);
      if constexpr (Kind != Residual::None) {
        residual[u] = load_pack<kWide>(work.residual + row * channels + part.channel);
      }
    }
    RG_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t row = first + u * grid.rows_at_once;
      if (!Whole && row >= part.rows) continue;
      Pack<T, kWide> y;
      [[maybe_unused]] unsigned bits = 0;
      RG_UNROLL
      for (int i = 0; i < kWide; ++i) {
        float value = fmaf(to_float(x[u].at[i]), scale.at[i], shift.at[i]);
        if constexpr (Kind == Residual::Plain) value += to_float(residual[u].at[i]);
        if constexpr (Kind == Residual::Normalised) {
          value += fmaf(to_float(residual[u].at[i]), residual_scale.at[i], residual_shift.at[i]);
        }
        if constexpr (Bits) bits |= (value > 0.0F ? 1U : 0U) << i;
        if constexpr (Relu) value = value < 0.0F ? 0.0F : value;
        convert(value, y.at[i]);
      }
      store_pack(work.y + row * channels + part.channel, y);
      if constexpr (Bits) {
        work.passed[row * (channels / kWide) + part.channel / kWide] = static_cast<std::uint8_t>(bits);
      }
    }
  });
}

template <typename T, bool Relu, Residual Kind>
auto choose_bits(const NormApply& work) {
  return work.passed != nullptr ? &apply_kernel<T, Relu, Kind, true> : &apply_kernel<T, Relu, Kind, false>;
}
template <typename T, bool Relu>
auto choose_residual(const NormApply& work) {
  if (work.residual == nullptr) return choose_bits<T, Relu, Residual::None>(work);
  if (work.residual_scale == nullptr) return choose_bits<T, Relu, Residual::Plain>(work);
  return choose_bits<T, Relu, Residual::Normalised>(work);
}

template <typename T>
void apply(runtime::Stream& stream, const NormShape& shape, const NormApply& work) {
  const NormGrid grid = norm_grid(shape, kMapLanes);
  const ApplyWork<T> of_type{static_cast<const T*>(work.x),
                             static_cast<const T*>(work.residual),
                             work.residual_scale,
                             work.residual_shift,
                             work.scale,
                             work.shift,
                             static_cast<T*>(work.y),
                             work.passed};
  const auto kernel = work.relu ? choose_residual<T, true>(work) : choose_residual<T, false>(work);
  launch(stream, "launch of norm_apply", launch_grid(grid), kernel, of_type, shape.rows, shape.channels, grid);
}

template <typename T>
void statistics(runtime::Stream& stream, const NormShape& shape, const void* x, const Channels& channels,
                const NormScratch& scratch) {
  const NormGrid grid = norm_grid(shape, kSumLanes);
  launch(stream, "launch of norm_statistics", launch_grid(grid), &statistics_kernel<T>, static_cast<const T*>(x),
         shape.rows, shape.channels, grid, channels, scratch.partials, scratch.counters);
}

}  // namespace

namespace {
void statistics_of(runtime::Stream& stream, const NormShape& shape, const void* x, const Channels& channels,
                   const NormScratch& scratch) {
  if (shape.type == DType::Bf16) return statistics<Bf16>(stream, shape, x, channels, scratch);
  if (shape.type == DType::F16) return statistics<F16>(stream, shape, x, channels, scratch);
  statistics<float>(stream, shape, x, channels, scratch);
}
}  // namespace

void norm_statistics(runtime::Stream& stream, const NormShape& shape, const void* x, const NormChannels& channels,
                     const NormRunning& running, const NormScratch& scratch) {
  const auto rows = static_cast<double>(shape.rows);
  statistics_of(stream, shape, x,
                {.gamma = channels.gamma,
                 .beta = channels.beta,
                 .mean = channels.mean,
                 .inv_std = channels.inv_std,
                 .scale = channels.scale,
                 .shift = channels.shift,
                 .running_mean = running.mean,
                 .running_var = running.var,
                 .momentum = running.momentum,
                 .epsilon = running.epsilon,
                 .over_rows = 1.0 / rows,
                 .unbiased = rows > 1.0 ? rows / (rows - 1.0) : 1.0},
                scratch);
}

void norm_moments(runtime::Stream& stream, const NormShape& shape, const void* x, float* moments,
                  const NormScratch& scratch) {
  statistics_of(stream, shape, x,
                {.mean = moments, .var = moments + shape.channels, .over_rows = 1.0 / static_cast<double>(shape.rows)},
                scratch);
}

void norm_apply(runtime::Stream& stream, const NormShape& shape, const NormApply& work) {
  if (shape.type == DType::Bf16) return apply<Bf16>(stream, shape, work);
  if (shape.type == DType::F16) return apply<F16>(stream, shape, work);
  apply<float>(stream, shape, work);
}

}  // namespace roentgen::engine::cuda
