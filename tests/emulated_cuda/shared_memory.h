// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shared memory of the running block. Arrays are found by key, contain NaN at first, and lie between canaries or
// poisoned bytes.
#pragma once

#include <cstddef>
#include <vector>

namespace roentgen::emulated {

/// Arrays in the shared memory of one block at a time. For use by one thread.
class SharedMemory {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{48} << 10;  ///< CUDA's limit for arrays of fixed size

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Forgets all arrays and sets every byte to 0xFF.
  void begin_block();
  /// Array that belongs to `key`, aligned to 16 bytes; null if the block's arrays exceed kMostBytes.
  [[nodiscard]] void* array(const void* key, std::size_t bytes);
  /// True if no byte between the arrays was written.
  [[nodiscard]] bool is_intact() const;

 private:
  struct Array {
    const void* key;
    std::byte* begin;
    std::size_t bytes;
  };
  void release();
  std::byte* arena_ = nullptr;
  std::size_t used_ = 0;     // used bytes of the arena
  std::size_t granted_ = 0;  // total size of the arrays
  std::vector<Array> arrays_;
};

}  // namespace roentgen::emulated
