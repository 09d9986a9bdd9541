// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/emulated_cuda/shared_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "tests/emulated_cuda/sanitizer.h"

namespace roentgen::emulated {
namespace {
constexpr std::size_t kGap = 64;  // size of the canary before and after an array, bytes
constexpr std::size_t kMostArrays = 64;
constexpr std::size_t kArena = SharedMemory::kMostBytes + (kMostArrays + 1) * (kGap + 16);
constexpr std::byte kCanary{0xA5};
constexpr std::size_t rounded_up(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
}  // namespace

SharedMemory::~SharedMemory() { release(); }

void SharedMemory::release() {
  if (arena_ == nullptr) return;
  sanitizer::unpoison(arena_, kArena);
  munmap(arena_, kArena);
  arena_ = nullptr;
}

void SharedMemory::begin_block() {
  // ThreadSanitizer would report races with the previous block, so each block gets new memory.
  if (sanitizer::has_threads) release();
  if (arena_ == nullptr) {
    void* const memory = mmap(nullptr, kArena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    arena_ = static_cast<std::byte*>(memory);
    used_ = kArena;
  }
  sanitizer::unpoison(arena_, kArena);
  std::memset(arena_, 0xFF, used_);
  std::fill_n(arena_, kGap, kCanary);
  sanitizer::poison(arena_, kArena);
  used_ = kGap;
  granted_ = 0;
  arrays_.clear();
  arrays_.reserve(kMostArrays);
}

void* SharedMemory::array(const void* key, std::size_t bytes) {
  const auto found = std::ranges::find(arrays_, key, &Array::key);
  if (found != arrays_.end()) return found->begin;
  granted_ += rounded_up(bytes);
  if (granted_ > kMostBytes || arrays_.size() == kMostArrays) return nullptr;
  std::byte* const begin = arena_ + used_;
  used_ += rounded_up(bytes) + kGap;
  if (!sanitizer::has_poison) std::fill(begin + bytes, arena_ + used_, kCanary);
  sanitizer::unpoison(begin, bytes);
  arrays_.push_back({key, begin, bytes});
  return begin;
}

bool SharedMemory::is_intact() const {
  if (sanitizer::has_poison) return true;
  const auto is_canary = [](const std::byte* begin, const std::byte* end) {
    return std::all_of(begin, end, [](std::byte byte) { return byte == kCanary; });
  };
  return is_canary(arena_, arena_ + kGap) && std::ranges::all_of(arrays_, [&](const Array& array) {
           return is_canary(array.begin + array.bytes, array.begin + rounded_up(array.bytes) + kGap);
         });
}

}  // namespace roentgen::emulated
