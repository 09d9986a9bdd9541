// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of scale.h.
#include "engine/cuda/update/scale.h"

#include <algorithm>

#include "engine/cuda/block_sum.h"
#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {

__global__ void store_scale_kernel(StepState* state, float scale) { state->scale = scale; }

// Computes partial[x] = sum of squares of every gridDim.x-th group of kSumThreads packs. Grid: x blocks. Reads each
// value once, 4 bytes.
__global__ void __launch_bounds__(kSumThreads)
    squares_kernel(const float* values, std::int64_t count, double* partial) {
  constexpr int kWide = 4;
  double sum = 0.0;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kSumThreads * kWide;
  std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * kSumThreads + threadIdx.x) * kWide;
  for (; i + kWide <= count; i += step) {
    const Pack<float, kWide> pack = load_pack<kWide>(values + i);
    RG_UNROLL
    for (int k = 0; k < kWide; ++k) sum += static_cast<double>(pack.at[k]) * static_cast<double>(pack.at[k]);
  }
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Halves the loss scale after an overflow, and doubles it after enough updates without one. If the loss itself was not
// finite, the scale is not the cause and stays unchanged.
__device__ void follow_overflow(StepState* state, bool is_overflow, std::int64_t growth_updates) {
  if (state->is_unsound != 0) return;
  if (is_overflow) {
    state->loss_scale *= 0.5;
    state->good_updates = 0;
    ++state->skipped;
    return;
  }
  if (++state->good_updates < growth_updates) return;
  state->good_updates = 0;
  // A larger scale would overflow with every gradient that f16 can represent.
  if (state->loss_scale < kLargestGrownScale) state->loss_scale *= 2.0;
}

// Grid: one block, which adds the partial sums, 8 bytes each. `limit`: largest norm; 0: no limit.
__global__ void __launch_bounds__(kSumThreads)
    clip_kernel(const double* partial, int count, double scale, double limit, std::int64_t growth_updates,
                StepState* state, double* norm) {
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kSumThreads) sum += partial[i];
  sum = sum_of_block(sum);
  if (threadIdx.x != 0) return;
  const double unscale = scale / state->loss_scale;
  const double here = unscale * sqrt(sum);
  const double factor = limit > 0.0 ? limit / (here + 1e-6) : 1.0;
  *norm = here;
  state->scale = static_cast<float>(factor < 1.0 ? unscale * factor : unscale);
  // The condition is true for infinite norms and NaN.
  const bool is_overflow = !(here <= 1.7976931348623157e308);
  if (growth_updates > 0) follow_overflow(state, is_overflow, growth_updates);
  if (is_overflow) state->is_unsound = 1;
}

}  // namespace

void store_scale(runtime::Stream& stream, StepState* state, float scale) {
  launch(stream, "launch of store_scale", {.blocks = dim3(1), .threads = dim3(1)}, &store_scale_kernel, state, scale);
}

void store_clipped_scale(runtime::Stream& stream, StepState* state, const UpdateWork& work, std::int64_t growth_updates,
                         double* partial, double* norm) {
  const runtime::DeviceSpan<float> source = work.source.device();
  const auto count = static_cast<std::int64_t>(source.count);
  const auto most = static_cast<std::int64_t>(kNormPartials);
  const std::int64_t blocks = std::clamp<std::int64_t>(ceil_div(count, 8 * kSumThreads), 1, most);
  launch(stream, "launch of squares", {.blocks = dim3(static_cast<unsigned>(blocks)), .threads = dim3(kSumThreads)},
         &squares_kernel, source.address, count, partial);
  launch(stream, "launch of clip", {.blocks = dim3(1), .threads = dim3(kSumThreads)}, &clip_kernel, partial, blocks,
         work.scale, work.clip_norm, growth_updates, state, norm);
}

}  // namespace roentgen::engine::cuda
