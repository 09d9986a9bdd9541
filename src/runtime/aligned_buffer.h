// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// AlignedBuffer: zeroed host memory for tensors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace roentgen::runtime {

/// Frees memory of AlignedBuffer.
struct FreeBuffer {
  std::size_t mapped = 0;                             ///< bytes of its mapping; 0 when malloc owns it
  void operator()(std::byte* memory) const noexcept;  ///< unmaps or frees it
};

/// Zeroed memory, 64-byte aligned (a cache line and an AVX-512 vector), rounded up to whole lines. Move-only. A buffer
/// of 4 MiB or more is its own mapping, fully resident, in huge pages where the system has them. Freeing it returns the
/// memory to the system, so a process holds exactly what its buffers hold.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< alignment in bytes

  AlignedBuffer() = default;
  /// DeviceError naming the size when there is too little memory.
  explicit AlignedBuffer(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return data_.get(); }  ///< null: no memory
  [[nodiscard]] std::size_t size() const { return size_; }       ///< bytes, rounded up to whole lines
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_.get(), size_}; }  ///< the whole memory

 private:
  std::unique_ptr<std::byte, FreeBuffer> data_;
  std::size_t size_ = 0;
};

/// `bytes` rounded up to a multiple of AlignedBuffer::kAlignment.
[[nodiscard]] constexpr std::size_t align_up(std::size_t bytes) {
  return (bytes + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment * AlignedBuffer::kAlignment;
}

}  // namespace roentgen::runtime
