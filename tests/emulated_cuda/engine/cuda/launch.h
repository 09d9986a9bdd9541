// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replacement for the header that kernels include: CUDA's names, implemented by the emulator. It precedes
// src/engine/cuda/launch.h on the include path of the emulated kernels.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string_view>
#include <type_traits>

#include "engine/cuda/pack.h"
#include "runtime/stream.h"
#include "tests/emulated_cuda/block.h"
#include "tests/emulated_cuda/device.h"

// NOLINTBEGIN(bugprone-reserved-identifier): CUDA's names
#define __global__
#define __device__
#define __launch_bounds__(...)
#define threadIdx (::roentgen::emulated::current->thread)
#define blockIdx (::roentgen::emulated::current->block)
#define blockDim (*::roentgen::emulated::current->threads)
#define gridDim (*::roentgen::emulated::current->blocks)
#define RG_SHARED(type, name, dims) \
  auto& name = ::roentgen::emulated::shared<type dims>([] {}, std::source_location::current())
#define RG_UNROLL

namespace roentgen::emulated {

/// Array in shared memory declared by one use of RG_SHARED; `Tag` is a different type for each use.
template <typename Array, typename Tag>
Array& shared(Tag, std::source_location at) {
  static const char key = 0;
  return *static_cast<Array*>(shared_array(&key, sizeof(Array), at));
}

/// Exchanges values of up to 8 bytes between lanes.
template <typename T>
T shuffle(unsigned mask, T value, unsigned source, std::source_location at) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = meet_in_warp(WarpOperation::Shuffle, mask, bits, source, at);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline void require_aligned(const void* p, std::size_t alignment, std::source_location at) {
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) fail("a pack at an address that is not aligned", at);
}

}  // namespace roentgen::emulated

namespace roentgen::engine::cuda {

using dim3 = emulated::Dim3;

inline void __syncthreads(std::source_location at = std::source_location::current()) { emulated::meet_at_barrier(at); }
inline void __syncwarp(unsigned mask = ~0U, std::source_location at = std::source_location::current()) {
  emulated::meet_in_warp(emulated::WarpOperation::Sync, mask, 0, 0, at);
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int source, std::source_location at = std::source_location::current()) {
  return emulated::shuffle(mask, value, static_cast<unsigned>(source) % 32, at);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, std::source_location at = std::source_location::current()) {
  return emulated::shuffle(mask, value, (emulated::current->number ^ static_cast<unsigned>(bits)) % 32, at);
}
/// A lane whose source lies beyond the end of the warp gets its own value.
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, std::source_location at = std::source_location::current()) {
  const unsigned lane = emulated::current->number % 32;
  return emulated::shuffle(mask, value, lane + by < 32 ? lane + by : lane, at);
}
inline unsigned __ballot_sync(unsigned mask, bool predicate,
                              std::source_location at = std::source_location::current()) {
  return static_cast<unsigned>(emulated::meet_in_warp(emulated::WarpOperation::Ballot, mask, predicate ? 1 : 0, 0, at));
}
/// Makes only the addition itself atomic and orders no other access, as on a device.
template <typename T>
T atomicAdd(T* p, T value) {
  return std::atomic_ref<T>(*p).fetch_add(value, std::memory_order_relaxed);
}

/// A bfloat16 number, stored as its bits.
struct Bf16 {
  std::uint16_t bits = 0;
};
/// An IEEE half-precision number, stored as its bits.
struct F16 {
  _Float16 value = 0;
};
inline float to_float(float value) { return value; }
inline float to_float(Bf16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }
inline float to_float(F16 value) { return static_cast<float>(value.value); }
/// Converts by rounding to nearest, ties to even. NaN becomes 0x7FFF, as with __float2bfloat16_rn.
inline void convert(float value, float& out) { out = value; }
inline void convert(float value, Bf16& out) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  out.bits = static_cast<std::uint16_t>(is_nan ? 0x7FFFU : (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}
inline void convert(float value, F16& out) { out.value = static_cast<_Float16>(value); }

inline std::uint32_t to_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::uint64_t to_bits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// The larger of two numbers. If one is NaN: the NaN with all bits set except the sign.
template <typename T>
T max_or_nan(T a, T b) {
  if (a != a || b != b) return from_bits(static_cast<decltype(to_bits(a))>(~decltype(to_bits(a)){0} >> 1));
  return a > b ? a : b;
}

/// Reads the elements at p, which must have the alignment of the pack.
template <int N, typename T>
Pack<T, N> load_pack(const T* p, std::source_location at = std::source_location::current()) {
  emulated::require_aligned(p, alignof(Pack<T, N>), at);
  Pack<T, N> pack;
  std::memcpy(static_cast<void*>(&pack), p, sizeof pack);
  return pack;
}
/// Writes a pack to p, which must have the alignment of the pack.
template <typename T, int N>
void store_pack(T* p, const Pack<T, N>& pack, std::source_location at = std::source_location::current()) {
  emulated::require_aligned(p, alignof(Pack<T, N>), at);
  std::memcpy(static_cast<void*>(p), &pack, sizeof pack);
}
/// Reads like load_pack() values that other blocks of this launch wrote before is_last_block().
template <int N>
Pack<float, N> load_shared_result(const float* p, std::source_location at = std::source_location::current()) {
  return load_pack<N>(p, at);
}

/// True in the last of `blocks` blocks to arrive, which then sees the writes of the others. All threads of a block must
/// call it once. `counter` is 0 before and after the launch.
inline bool is_last_block(unsigned* counter, unsigned blocks) {
  RG_SHARED(unsigned, arrived, [1]);
  __syncthreads();
  if (threadIdx.x == 0) {
    arrived[0] = std::atomic_ref<unsigned>(*counter).fetch_add(1, std::memory_order_acq_rel);
    if (arrived[0] + 1 == blocks) *counter = 0;
  }
  __syncthreads();
  return arrived[0] + 1 == blocks;
}

/// Number of blocks, and number of threads in a block.
struct Grid {
  dim3 blocks = {};
  dim3 threads = {};
};

/// Queues the kernel on an emulated stream. Copies the arguments immediately, as a CUDA launch does.
template <typename... Parameters, typename... Args>
void launch(runtime::Stream& stream, std::string_view what, const Grid& grid, void (*kernel)(Parameters...),
            Args&&... args) {
  emulated::as_emulated(stream).launch(
      what, grid.blocks, grid.threads,
      [kernel, ... copies = static_cast<std::decay_t<Parameters>>(args)] { kernel(copies...); });
}

}  // namespace roentgen::engine::cuda
// NOLINTEND(bugprone-reserved-identifier)
