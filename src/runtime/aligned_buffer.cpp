// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"

namespace roentgen::runtime {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Smallest buffer that uses huge pages. A smaller buffer would waste a large part of its last huge page.
constexpr std::size_t kHugeFrom = 2 * kHugePage;
constexpr std::size_t kMost = std::size_t{1} << 46;

// Size of a buffer's memory mapping; 0 if malloc allocates the buffer.
std::size_t mapping_of(std::size_t bytes) {
  return bytes < kHugeFrom ? 0 : (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

// Maps memory with huge pages. Kernels access dozens of rows at once, each in another page. With 4 KiB pages, address
// translation would cost time for each row, twice as much on a virtual machine. madvise() is only advice, which a
// system without huge pages ignores. malloc() would keep freed memory, in addition to a later, larger buffer. The last
// partial huge page uses small pages, so that a buffer occupies no more than its size.
void* map(std::size_t bytes) {
  const std::size_t mapped = mapping_of(bytes);
  const std::size_t reserved = mapped + kHugePage;
  void* region = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(region);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(region) % kHugePage) % kHugePage;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + mapped, kHugePage - before);
  ::madvise(begin + before, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return begin + before;
}
}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const std::size_t mapped = bytes > kMost ? 0 : mapping_of(bytes);
  void* memory = bytes > kMost ? nullptr : mapped != 0 ? map(bytes) : std::aligned_alloc(kAlignment, align_up(bytes));
  if (memory == nullptr) {
    throw DeviceError(error_text("runtime.memory", "host buffer", std::to_string(bytes) + " bytes of memory", "none",
                                 "a smaller batch or image"));
  }
  std::memset(memory, 0, align_up(bytes));
  data_ = {static_cast<std::byte*>(memory), FreeBuffer{mapped}};
}

void FreeBuffer::operator()(std::byte* memory) const noexcept {
  if (mapped == 0) {
    std::free(memory);
  } else {
    ::munmap(memory, mapped);
  }
}

}  // namespace roentgen::runtime
