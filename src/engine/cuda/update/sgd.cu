// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The kernel behind sgd.h.
#include "engine/cuda/update/sgd.h"

#include <algorithm>

#include "core/error.h"
#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kWide = 4;    // elements of an access
constexpr int kUnroll = 2;  // accesses of each array in flight
constexpr int kBlocks = 4;  // blocks that a multiprocessor runs at once
static_assert(kThreads * kWide * kUnroll == kUpdateChunk);

/// SgdWork with typed pointers.
template <typename T>
struct Work {
  float* weights;
  float* momenta;
  const float* gradients;
  T* copies;
  const UpdateChunk* chunks;
  const SgdStep* step;
  float* partials;
  unsigned* counter;
  float* square_sum;
};

__device__ float sum_of_block(float value) {
  RG_SHARED(float, warps, [kWarps]);
  RG_UNROLL
  for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(~0U, value, by);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0F;
  RG_UNROLL
  for (int i = 0; i < kWarps; ++i) sum += warps[i];
  __syncthreads();
  return sum;
}

// Updates one chunk: kUnroll packs of a thread.
template <typename T, bool Nesterov, bool Copies>
__device__ void update_chunk(const Work<T>& work, const UpdateChunk& chunk, const SgdStep& step, float& square) {
  const auto update = [&](float& weight, float& momentum, float gradient) {
    float g = gradient * step.gradient_scale;
    square = fmaf(g, g, square);
    g = fmaf(chunk.weight_decay, weight, g);
    momentum = fmaf(step.momentum, momentum, g);
    weight = fmaf(-step.lr, Nesterov ? fmaf(step.momentum, momentum, g) : momentum, weight);
  };
  float* const weights = work.weights + chunk.begin;
  float* const momenta = work.momenta + chunk.begin;
  const float* const gradients = work.gradients + chunk.begin;
  [[maybe_unused]] T* const copies = Copies ? work.copies + chunk.begin : nullptr;
  const int first = static_cast<int>(threadIdx.x) * kWide;
  Pack<float, kWide> weight[kUnroll], momentum[kUnroll], gradient[kUnroll];
  RG_UNROLL
  for (int u = 0; u < kUnroll; ++u) {
    const int i = first + u * kThreads * kWide;
    if (i + kWide > chunk.count) continue;
    weight[u] = load_pack<kWide>(weights + i);
    momentum[u] = load_pack<kWide>(momenta + i);
    gradient[u] = load_pack<kWide>(gradients + i);
  }
  RG_UNROLL
  for (int u = 0; u < kUnroll; ++u) {
    const int i = first + u * kThreads * kWide;
    if (i + kWide > chunk.count) {
      for (int j = i; j < chunk.count; ++j) {
        update(weights[j], momenta[j], gradients[j]);
        if constexpr (Copies) convert(weights[j], copies[j]);
      }
      continue;
    }
    [[maybe_unused]] Pack<T, kWide> copy;
    RG_UNROLL
    for (int j = 0; j < kWide; ++j) {
      update(weight[u].at[j], momentum[u].at[j], gradient[u].at[j]);
      if constexpr (Copies) convert(weight[u].at[j], copy.at[j]);
    }
    store_pack(weights + i, weight[u]);
    store_pack(momenta + i, momentum[u]);
    if constexpr (Copies) store_pack(copies + i, copy);
  }
}

// One block a chunk. The last block sums the squares of all chunks in a fixed order.
template <typename T, bool Nesterov, bool Copies>
__global__ void __launch_bounds__(kThreads, kBlocks) sgd_kernel(Work<T> work) {
  float square = 0.0F;
  update_chunk<T, Nesterov, Copies>(work, work.chunks[blockIdx.x], *work.step, square);
  square = sum_of_block(square);
  if (threadIdx.x == 0) work.partials[blockIdx.x] = square;
  if (!is_last_block(work.counter, gridDim.x)) return;
  const int count = static_cast<int>(gridDim.x);
  constexpr int kAtOnce = 8;
  float sum = 0.0F;
  for (int first = static_cast<int>(threadIdx.x); first < count; first += kAtOnce * kThreads) {
    float read[kAtOnce];
    RG_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = first + i * kThreads;
      read[i] = at < count ? load_shared_result<1>(work.partials + at).at[0] : 0.0F;
    }
    RG_UNROLL
    for (int i = 0; i < kAtOnce; ++i) sum += read[i];
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *work.square_sum = sum;
}

template <typename T>
auto choose(const SgdWork& work) {
  if (work.copies == nullptr) return work.nesterov ? &sgd_kernel<T, true, false> : &sgd_kernel<T, false, false>;
  return work.nesterov ? &sgd_kernel<T, true, true> : &sgd_kernel<T, false, true>;
}

template <typename T>
void launch_sgd(runtime::Stream& stream, const SgdWork& work) {
  const Work<T> of_type{work.weights,   work.momenta, work.gradients, static_cast<T*>(work.copies),
                        work.chunks,    work.step,    work.partials,  work.counter,
                        work.square_sum};
  launch(stream, "launch of sgd", {.blocks = dim3(static_cast<unsigned>(work.chunk_count)), .threads = dim3(kThreads)},
         choose<T>(work), of_type);
}

}  // namespace

std::vector<UpdateChunk> update_chunks(std::span<const UpdateRange> ranges) {
  std::vector<UpdateChunk> chunks;
  for (const UpdateRange& range : ranges) {
    RG_ASSERT(range.begin % 8 == 0);
    for (std::int64_t at = 0; at < range.count; at += kUpdateChunk) {
      const std::int64_t count = std::min<std::int64_t>(kUpdateChunk, range.count - at);
      chunks.push_back({range.begin + at, static_cast<std::int32_t>(count), range.weight_decay});
    }
  }
  return chunks;
}

void sgd(runtime::Stream& stream, const SgdWork& work) {
  if (work.chunk_count <= 0) {
    throw ConfigError(error_text("engine.cuda.sgd", "chunk_count", "at least 1", std::to_string(work.chunk_count)));
  }
  if (work.copy_type == DType::F16) return launch_sgd<F16>(stream, work);
  if (work.copy_type == DType::Bf16) return launch_sgd<Bf16>(stream, work);
  throw ConfigError(error_text("engine.cuda.sgd", "copy_type", "bf16 or f16", std::string(name_of(work.copy_type))));
}

}  // namespace roentgen::engine::cuda
