// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/aligned_buffer.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"

namespace roentgen::runtime {

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* memory = bytes > (std::size_t{1} << 46) ? nullptr : std::aligned_alloc(kAlignment, align_up(bytes));
  if (memory == nullptr) {
    throw DeviceError(error_text("runtime.memory", "host buffer", std::to_string(bytes) + " bytes", "no memory",
                                 "a smaller batch or image"));
  }
  std::memset(memory, 0, align_up(bytes));
  data_.reset(static_cast<std::byte*>(memory));
}

void AlignedBuffer::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

}  // namespace roentgen::runtime
