// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/emulated_cuda/stack.h"

#include <sys/mman.h>

#include <new>

#include "tests/emulated_cuda/sanitizer.h"

namespace roentgen::emulated {
namespace {
constexpr std::size_t kPageBytes = 4096;
}

std::byte* allocate_stack() {
  void* const memory = mmap(nullptr, kStackBytes + kPageBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(memory, kPageBytes, PROT_NONE) != 0) throw std::bad_alloc();
  return static_cast<std::byte*>(memory) + kPageBytes;
}

void free_stack(std::byte* stack) {
  // Removes poison that frames of an abandoned kernel left, which would outlive the mapping.
  sanitizer::unpoison(stack, kStackBytes);
  munmap(stack - kPageBytes, kStackBytes + kPageBytes);
}

}  // namespace roentgen::emulated
