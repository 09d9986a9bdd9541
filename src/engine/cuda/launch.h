// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CUDA version of the header that kernels include. Tests compile the same kernels as C++: their version,
// tests/emulated_cuda/engine/cuda/launch.h, comes first on the include path.
//
// Kernels use CUDA's names and the following ones: RG_SHARED, RG_UNROLL, Bf16, F16, to_float(), convert(), Pack,
// load_pack(), store_pack(), is_last_block() and launch(). They compute in float32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string_view>

#include "engine/cuda/pack.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/stream.h"

/// Declares an array in the block's shared memory, as in RG_SHARED(float, tile, [32][33]).
#define RG_SHARED(type, name, dims) __shared__ type name dims
/// Unrolls the loop that follows.
#define RG_UNROLL _Pragma("unroll")

namespace roentgen::engine::cuda {

using Bf16 = __nv_bfloat16;
using F16 = __half;
__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(Bf16 value) { return __bfloat162float(value); }
__device__ inline float to_float(F16 value) { return __half2float(value); }
/// Rounds a float to the type of `out`: to nearest, ties to even.
__device__ inline void convert(float value, float& out) { out = value; }
__device__ inline void convert(float value, Bf16& out) { out = __float2bfloat16_rn(value); }
__device__ inline void convert(float value, F16& out) { out = __float2half_rn(value); }

__device__ inline std::uint32_t to_bits(float value) { return __float_as_uint(value); }
__device__ inline std::uint64_t to_bits(double value) {
  return static_cast<std::uint64_t>(__double_as_longlong(value));
}
__device__ inline float from_bits(std::uint32_t bits) { return __uint_as_float(bits); }
__device__ inline double from_bits(std::uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }

/// Returns the larger number, or a canonical NaN (all bits set except the sign) if one of them is NaN.
__device__ inline float max_or_nan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}
__device__ inline double max_or_nan(double a, double b) {
  if (a != a || b != b) return from_bits(~std::uint64_t{0} >> 1);
  return a > b ? a : b;
}

/// Reads N elements at p, which must be aligned for the pack.
template <int N, typename T>
__device__ inline Pack<T, N> load_pack(const T* p) {
  return *reinterpret_cast<const Pack<T, N>*>(p);
}
/// Writes a pack to p, which must be aligned for the pack.
template <typename T, int N>
__device__ inline void store_pack(T* p, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(p) = pack;
}
/// Variant of load_pack() for values that other blocks of this launch wrote before is_last_block(). Bypasses the
/// first-level cache.
template <int N>
__device__ inline Pack<float, N> load_shared_result(const float* p) {
  static_assert(N == 1 || N == 4);
  if constexpr (N == 1) {
    return {{__ldcg(p)}};
  } else {
    const float4 value = __ldcg(reinterpret_cast<const float4*>(p));
    return {{value.x, value.y, value.z, value.w}};
  }
}

/// Returns true in the last of `blocks` blocks to call it. That block sees what the other blocks wrote before. All
/// threads of a block must call it, once. `counter` must be 0 before the launch; it is 0 again afterwards.
__device__ inline bool is_last_block(unsigned* counter, unsigned blocks) {
  RG_SHARED(unsigned, arrived, [1]);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    arrived[0] = atomicAdd(counter, 1U);
    if (arrived[0] + 1 == blocks) *counter = 0;
    __threadfence();
  }
  __syncthreads();
  return arrived[0] + 1 == blocks;
}

/// Size of a launch: number of blocks, and of threads per block.
struct Grid {
  dim3 blocks = {};
  dim3 threads = {};
};

/// Queues kernel<<<grid>>>(args...). Arguments are converted to the kernel's parameter types. Throws DeviceError naming
/// `what` if the launch is refused or the stream is not a CUDA stream.
template <typename... Parameters, typename... Args>
void launch(runtime::Stream& stream, std::string_view what, const Grid& grid, void (*kernel)(Parameters...),
            Args&&... args) {
  kernel<<<grid.blocks, grid.threads, 0, runtime::cuda::as_cuda(stream).launch_handle()>>>(
      static_cast<Parameters>(args)...);
  runtime::cuda::check(cudaGetLastError(), what);
}

}  // namespace roentgen::engine::cuda
