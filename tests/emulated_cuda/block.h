// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels on the CPU: blocks run one after the other, and the threads of a block are fibres, each of which runs until
// it meets others at a barrier or in a warp operation. Where CUDA leaves behaviour undefined, this reports an error:
// threads at different barriers, a thread that ended before a barrier, wrong masks, shuffles from absent lanes,
// misaligned packs, writes past arrays in shared memory. Arrays in shared memory begin as NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string_view>

namespace roentgen::emulated {

/// CUDA's dim3.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr Dim3(unsigned x_extent = 1, unsigned y_extent = 1, unsigned z_extent = 1)  // NOLINT: converts, as dim3
      : x(x_extent), y(y_extent), z(z_extent) {}
  [[nodiscard]] constexpr std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

/// One CUDA thread as kernels see it.
struct Lane {
  Dim3 thread, block;
  const Dim3* threads = nullptr;
  const Dim3* blocks = nullptr;
  unsigned number = 0;  ///< in the block: lane number % 32 of warp number / 32
};
/// The thread that is running; null outside of kernels.
extern constinit thread_local Lane* current;

/// Order of blocks, and of the threads of a block where they are free.
enum class Order { Forward, Backward, Random };

/// A kernel with its arguments.
struct Launch {
  std::string_view name;  ///< for errors
  Dim3 blocks, threads;
  Order order = Order::Forward;
  std::uint64_t seed = 1;           ///< for Order::Random
  std::function<void()> body = {};  ///< one CUDA thread
};
/// Runs all blocks on the calling thread. DeviceError naming kernel, block, thread, file and line at the first error;
/// the frames of the other threads of that block are abandoned, without destructors.
void run(const Launch& launch);

/// __syncthreads().
void meet_at_barrier(std::source_location at);
/// Operation in which lanes of a warp meet.
enum class WarpOperation { Sync, Shuffle, Ballot };
/// Meets the lanes of the mask. Shuffle: the bits of lane `source`; Ballot: one bit a lane whose `bits` are not 0.
std::uint64_t meet_in_warp(WarpOperation operation, unsigned mask, std::uint64_t bits, unsigned source,
                           std::source_location at);
/// The array of this key in the shared memory of the block.
void* shared_array(const void* key, std::size_t bytes, std::source_location at);
/// Ends the launch with an error.
[[noreturn]] void fail(std::string_view text, std::source_location at);

}  // namespace roentgen::emulated
