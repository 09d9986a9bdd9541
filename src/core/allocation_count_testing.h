// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: counts heap allocations. The header replaces operator new for the whole program, so include it in exactly
// one source file of a test program. A second one does not link.
#pragma once

#include <dlfcn.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

namespace roentgen {

/// Counts allocations by operator new (plain or aligned) and aligned_alloc on all threads. Allocations by oneDNN and
/// OpenMP's runtime are counted separately, by the library that contains the caller. Only one object may exist at a
/// time.
class AllocationCount {
 public:
  /// Starts to count from zero, until the end of the scope.
  AllocationCount() {
    ours_ = 0;
    library_ = 0;
    is_counting_ = true;
  }
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;
  ~AllocationCount() { is_counting_ = false; }

  [[nodiscard]] static int ours() { return ours_; }
  [[nodiscard]] static int library() { return library_; }

  /// Counts an allocation by the code at `caller`.
  static void add(void* caller) {
    if (!is_counting_.load(std::memory_order_relaxed)) return;
    Dl_info info{};
    const bool is_known = dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
    const std::string_view file = is_known ? info.dli_fname : "";
    const bool is_library =
        file.find("libdnnl") != std::string_view::npos || file.find("libgomp") != std::string_view::npos;
    ++(is_library ? library_ : ours_);
  }

 private:
  inline static std::atomic<bool> is_counting_{false};
  inline static std::atomic<int> ours_{0};
  inline static std::atomic<int> library_{0};
};

// Sanitizers replace these functions themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// True if this build can count allocations.
inline constexpr bool kCanCountAllocations = true;
}  // namespace roentgen

// Not inlined, because add() needs the address of the caller. GCC would also warn that an inlined delete does not match
// its new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  roentgen::AllocationCount::add(__builtin_return_address(0));
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  roentgen::AllocationCount::add(__builtin_return_address(0));
  if (void* memory = ::memalign(static_cast<std::size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
// Counted because runtime::AlignedBuffer allocates with it.
extern "C" [[gnu::noinline]] void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  roentgen::AllocationCount::add(__builtin_return_address(0));
  return ::memalign(alignment, size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#else
inline constexpr bool kCanCountAllocations = false;
}  // namespace roentgen
#endif
