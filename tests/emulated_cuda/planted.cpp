// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/emulated_cuda/planted.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "engine/cuda/launch.h"

// Same namespace as the kernels, because they use CUDA's names without qualification.
namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = static_cast<int>(emulated::kPlantedThreads);

__device__ int thread_number() { return static_cast<int>(threadIdx.x); }
__device__ float* own_number(float* out) { return out + blockIdx.x * blockDim.x + threadIdx.x; }

/// Kernel without a bug: reverses the numbers of a block through shared memory, sums over a warp, and sums over all
/// blocks.
__global__ void none(float* out) {
  RG_SHARED(float, numbers, [kThreads]);
  const int t = thread_number();
  numbers[t] = static_cast<float>(t);
  __syncthreads();
  const float reversed = numbers[kThreads - 1 - t];
  __syncthreads();
  numbers[t] = reversed;
  __syncwarp();
  float sum = numbers[t ^ 1] + numbers[t];
  RG_UNROLL
  for (int by = 2; by < 32; by *= 2) sum += __shfl_xor_sync(~0U, sum, by);
  if (__ballot_sync(~0U, sum > 0.0F) == ~0U) *own_number(out) = sum;
}
__global__ void missing_barrier(float* out) {
  RG_SHARED(float, numbers, [kThreads]);
  const int t = thread_number();
  numbers[t] = static_cast<float>(t);
  __syncthreads();
  const float reversed = numbers[kThreads - 1 - t];
  numbers[t] = reversed + 100.0F;  // bug: other threads still read
  __syncthreads();
  *own_number(out) = numbers[t] + reversed;
}
__global__ void missing_sync_in_warp(float* out) {
  RG_SHARED(float, numbers, [kThreads]);
  numbers[thread_number()] = 1.0F;
  *own_number(out) = numbers[thread_number() ^ 1];
}
__global__ void early_end(float* out) {
  if (thread_number() == 5) return;
  __syncthreads();
  *own_number(out) = 1.0F;
}
__global__ void two_barriers(float* out) {
  if (thread_number() < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  *own_number(out) = 1.0F;
}
__global__ void own_mask(float* out) {
  float value = 1.0F;
  RG_UNROLL
  for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(0xFFFFU, value, by);
  *own_number(out) = value;
}
__global__ void absent_lane(float* out) {
  float value = 1.0F;
  // Bug: lanes 8 to 15 read lanes 16 to 23
  if (thread_number() % 32 < 16) value += __shfl_down_sync(0xFFFFU, value, 8);
  *own_number(out) = value;
}
__global__ void different_masks(float* out) {
  *own_number(out) = __shfl_sync(thread_number() % 2 == 0 ? ~0U : 0xFFFFFFFEU | 1U << thread_number() % 32, 1.0F, 3);
}
__global__ void two_operations(float* out) {
  *own_number(out) =
      thread_number() % 2 == 0 ? static_cast<float>(__ballot_sync(~0U, true)) : __shfl_sync(~0U, 1.0F, 3);
}
__global__ void misaligned(float* out) { *own_number(out) = load_pack<4>(out + 1).at[0]; }
__global__ void write_past(float* out) {
  RG_SHARED(float, numbers, [kThreads]);
  float* const all = numbers;
  all[thread_number() + 1] = 1.0F;
  __syncthreads();
  *own_number(out) = all[thread_number()];
}
__global__ void read_past(float* out) {
  RG_SHARED(float, numbers, [kThreads]);
  float* const all = numbers;
  all[thread_number()] = 1.0F;
  __syncthreads();
  *own_number(out) = all[thread_number() + 1];
}
__global__ void unwritten(float* out) {
  RG_SHARED(float, numbers, [kThreads]);
  if (thread_number() != 7) numbers[thread_number()] = 1.0F;
  __syncthreads();
  *own_number(out) = numbers[thread_number()];
}
__global__ void blocks_without_atomics(float* out) {
  if (threadIdx.x == 0) out[0] += 1.0F;
}
__global__ void two_writers(float* out) {
  if (threadIdx.x == 0) out[blockIdx.x / 2] = static_cast<float>(blockIdx.x);
}
__global__ void past_the_buffer(float* out) { own_number(out)[kThreads] = 1.0F; }
__global__ void barrier_in_warp(float* out) {
  if (thread_number() < 16) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  *own_number(out) = 1.0F;
}

using Kernel = void (*)(float*);
constexpr Kernel kKernels[] = {
    &none,        &missing_barrier,        &missing_sync_in_warp, &early_end,       &two_barriers,   &own_mask,
    &absent_lane, &different_masks,        &two_operations,       &misaligned,      &write_past,     &read_past,
    &unwritten,   &blocks_without_atomics, &two_writers,          &past_the_buffer, &barrier_in_warp};
static_assert(std::size(kKernels) == std::size(emulated::kPlanted));

}  // namespace
}  // namespace roentgen::engine::cuda

namespace roentgen::emulated {

std::vector<float> run_planted(std::string_view name, const DeviceOptions& options) {
  const auto* const found = std::ranges::find(kPlanted, name);
  RG_ASSERT(found != std::end(kPlanted));
  EmulatedDevice device(options);
  const auto stream = device.make_stream();
  std::vector<float> result(std::size_t{kPlantedBlocks} * kPlantedThreads);
  const auto out = device.make_device_buffer(result.size() * sizeof(float));
  engine::cuda::launch(*stream, name, {.blocks = kPlantedBlocks, .threads = kPlantedThreads},
                       engine::cuda::kKernels[found - std::begin(kPlanted)], reinterpret_cast<float*>(out->address()));
  stream->download(*out, 0, std::as_writable_bytes(std::span(result)));
  return result;
}

}  // namespace roentgen::emulated
