// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Memory of the emulated device, which detects writes past its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "tests/emulated_cuda/sanitizer.h"

namespace roentgen::emulated {

inline constexpr std::size_t kAlignment = 256;  // of cudaMalloc's memory

inline constexpr std::size_t kGuard = 256;  // bytes after a buffer that nobody may write
inline constexpr std::byte kCanary{0xA5};

/// Zeroed memory between guards.
class Memory {
 public:
  explicit Memory(std::size_t bytes)
      : bytes_(bytes),
        address_(static_cast<std::byte*>(::operator new (bytes + kGuard, std::align_val_t{kAlignment}))) {
    std::memset(address_.get(), 0, bytes);
    std::fill_n(address_.get() + bytes, kGuard, kCanary);
    sanitizer::poison(address_.get() + bytes, kGuard);
  }
  ~Memory() { sanitizer::unpoison(address_.get() + bytes_, kGuard); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return {address_.get(), bytes_}; }
  [[nodiscard]] bool is_intact() const {
    return sanitizer::has_poison || std::all_of(address_.get() + bytes_, address_.get() + bytes_ + kGuard,
                                                [](std::byte b) { return b == kCanary; });
  }

 private:
  struct Free {
    void operator()(std::byte* address) const { ::operator delete (address, std::align_val_t{kAlignment}); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> address_;
};

}  // namespace roentgen::emulated
