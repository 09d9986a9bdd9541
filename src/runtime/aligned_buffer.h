// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// AlignedBuffer: zeroed host memory for tensors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace roentgen::runtime {

/// Deleter of AlignedBuffer's memory.
struct FreeBuffer {
  std::size_t mapped = 0;                             ///< size of its own memory mapping; 0 if malloc allocated it
  void operator()(std::byte* memory) const noexcept;  ///< unmaps or frees the memory
};

/// Zeroed memory, aligned to 64 bytes (a cache line and an AVX-512 vector), with its size rounded up to whole lines.
/// Move-only. A buffer of 4 MiB or more is a separate memory mapping. It is resident from the start and uses huge pages
/// if the system has them. Freeing it returns the memory to the system immediately.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< alignment in bytes

  AlignedBuffer() = default;
  /// Allocates the memory. Throws DeviceError with the size if there is too little memory.
  explicit AlignedBuffer(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return data_.get(); }  ///< start of the memory; null if it is empty
  [[nodiscard]] std::size_t size() const { return size_; }       ///< size in bytes, rounded up to whole lines
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_.get(), size_}; }  ///< all of the memory

 private:
  std::unique_ptr<std::byte, FreeBuffer> data_;
  std::size_t size_ = 0;
};

/// Rounds `bytes` up to a multiple of AlignedBuffer::kAlignment.
[[nodiscard]] constexpr std::size_t align_up(std::size_t bytes) {
  return (bytes + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment * AlignedBuffer::kAlignment;
}

}  // namespace roentgen::runtime
