// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs CUDA kernels on the CPU. Blocks run one after the other. The threads of a block are fibres; each runs until it
// waits for others at a barrier or in a warp operation. The emulator reports an error for undefined behaviour in CUDA:
// threads at different barriers, threads that end before a barrier, wrong masks, shuffles from absent lanes, misaligned
// packs, writes past arrays in shared memory. Arrays in shared memory begin as NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string_view>

namespace roentgen::emulated {

/// Replacement for CUDA's dim3.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr Dim3(unsigned x_extent = 1, unsigned y_extent = 1, unsigned z_extent = 1)  // NOLINT: converts, as dim3
      : x(x_extent), y(y_extent), z(z_extent) {}
  [[nodiscard]] constexpr std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

/// Indices of one CUDA thread, as kernels see them.
struct Lane {
  Dim3 thread, block;
  const Dim3* threads = nullptr;
  const Dim3* blocks = nullptr;
  unsigned number = 0;  ///< index in the block: lane number % 32 of warp number / 32
};
/// The CUDA thread that is running; null outside of kernels.
extern constinit thread_local Lane* current;

/// Order in which blocks run, and the threads of a block if several can run.
enum class Order { Forward, Backward, Random };

/// A kernel with its arguments and its grid.
struct Launch {
  std::string_view name;  ///< name of the kernel, for errors
  Dim3 blocks, threads;
  Order order = Order::Forward;
  std::uint64_t seed = 1;           ///< seed of Order::Random
  std::function<void()> body = {};  ///< code of one CUDA thread
};
/// Runs all blocks on the calling thread. At the first error, throws DeviceError that names kernel, block, thread, file
/// and line. The other threads of that block are abandoned, and their destructors do not run.
void run(const Launch& launch);

/// Implements __syncthreads().
void meet_at_barrier(std::source_location at);
/// Operation for which the lanes of a warp wait for each other.
enum class WarpOperation { Sync, Shuffle, Ballot };
/// Waits for all lanes of the mask, then returns the operation's result. Shuffle: the bits of lane `source`. Ballot:
/// one bit for each lane, set if its `bits` are not 0.
std::uint64_t meet_in_warp(WarpOperation operation, unsigned mask, std::uint64_t bits, unsigned source,
                           std::source_location at);
/// Array in the shared memory of the block that belongs to `key`.
void* shared_array(const void* key, std::size_t bytes, std::source_location at);
/// Ends the launch with a DeviceError.
[[noreturn]] void fail(std::string_view text, std::source_location at);

}  // namespace roentgen::emulated
