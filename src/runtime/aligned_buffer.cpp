// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"

namespace roentgen::runtime {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Below this a buffer would waste a part of its last huge page that counts.
constexpr std::size_t kHugeFrom = 2 * kHugePage;

// Kernels walk dozens of rows at once, each in a page of its own: with 4 KiB pages the address translation shows in
// every one of them, twice as much on a virtual machine. Only advice: a system without huge pages ignores it.
void* allocate(std::size_t bytes) {
  if (bytes > (std::size_t{1} << 46)) return nullptr;
  if (bytes < kHugeFrom) return std::aligned_alloc(AlignedBuffer::kAlignment, align_up(bytes));
  // A size that the alignment does not divide is undefined in C11; what is behind `bytes` is never touched.
  void* memory = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) / kHugePage * kHugePage);
  if (memory != nullptr) ::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}
}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* memory = allocate(bytes);
  if (memory == nullptr) {
    throw DeviceError(error_text("runtime.memory", "host buffer", std::to_string(bytes) + " bytes", "no memory",
                                 "a smaller batch or image"));
  }
  std::memset(memory, 0, align_up(bytes));
  data_.reset(static_cast<std::byte*>(memory));
}

void AlignedBuffer::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

}  // namespace roentgen::runtime
