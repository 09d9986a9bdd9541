// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// AlignedBuffer: zeroed host memory for tensors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace roentgen::runtime {

/// Zeroed memory, 64-byte aligned (a cache line and an AVX-512 vector), rounded up to whole lines. Move-only.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  /// DeviceError naming the size when the machine has not that much.
  explicit AlignedBuffer(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// `bytes` rounded up to a multiple of AlignedBuffer::kAlignment.
[[nodiscard]] constexpr std::size_t align_up(std::size_t bytes) {
  return (bytes + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment * AlignedBuffer::kAlignment;
}

}  // namespace roentgen::runtime
