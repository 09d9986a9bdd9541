// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts heap allocations of this thread by replacing operator new in the test executable.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "data/transform/transform_testing.h"

namespace {
thread_local std::int64_t allocations = 0;
}  // namespace

// Sanitizers replace operator new themselves, so the count is skipped there.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
constexpr bool kCanCount = true;
#else
constexpr bool kCanCount = false;
#endif

namespace roentgen::data {
namespace {

TEST(Allocations, of_a_transformer_stop_after_the_first_pictures) {
  if (!kCanCount) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts allocations";
  const Image big = random_image({.width_px = 200, .height_px = 180, .channels = 3}, 1);
  const Image small = random_image({.width_px = 100, .height_px = 120}, 2);
  const Preprocess preprocess = unit(32, Fit::Squash, 3);
  // The largest rotation comes first, so that all buffers reach their largest size.
  const AugmentDraw widest{.rotate_rad = 0.785, .zoom = 0.8};
  std::vector<float> out(3 * 32 * 32);
  const SlotView slot{std::as_writable_bytes(std::span(out)), DType::F32};
  Transformer transformer;
  transformer.apply(big, preprocess, &widest, slot);
  const std::int64_t before = allocations;
  EXPECT_GT(before, 0);
  for (int i = 0; i < 20; ++i) {
    const AugmentDraw draw{.rotate_rad = 0.01 * i, .zoom = 1.0 + 0.01 * i, .flip = i % 2 == 1};
    transformer.apply(i % 3 == 0 ? small : big, preprocess, i % 4 == 0 ? nullptr : &draw, slot);
  }
  EXPECT_EQ(allocations - before, 0);
}

}  // namespace
}  // namespace roentgen::data
