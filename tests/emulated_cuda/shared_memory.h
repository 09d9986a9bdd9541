// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shared memory of the block that runs: arrays found by key, NaN at first, between canaries or poisoned bytes.
#pragma once

#include <cstddef>
#include <vector>

namespace roentgen::emulated {

/// The arrays of one block at a time. One thread.
class SharedMemory {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{48} << 10;  ///< CUDA's limit for arrays of fixed size

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Forgets all arrays; every byte is 0xFF again.
  void begin_block();
  /// The array of a key, aligned to 16 bytes; null when the block's arrays are larger than kMostBytes.
  [[nodiscard]] void* array(const void* key, std::size_t bytes);
  /// True when nothing was written between the arrays.
  [[nodiscard]] bool is_intact() const;

 private:
  struct Array {
    const void* key;
    std::byte* begin;
    std::size_t bytes;
  };
  void release();
  std::byte* arena_ = nullptr;
  std::size_t used_ = 0;     // of the arena
  std::size_t granted_ = 0;  // bytes of arrays
  std::vector<Array> arrays_;
};

}  // namespace roentgen::emulated
