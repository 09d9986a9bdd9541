// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/aligned_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/memory.h"

namespace roentgen::runtime {
namespace {

TEST(AlignedBuffer, is_zeroed_up_to_the_end_of_its_last_line) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{4097}}) {
    // Fills memory of this size with other values first, because fresh pages of the system are zero anyway.
    AlignedBuffer used(bytes);
    std::fill_n(used.data(), align_up(bytes), std::byte{0xA5});
    used = AlignedBuffer();
    const AlignedBuffer buffer(bytes);
    EXPECT_TRUE(
        std::all_of(buffer.data(), buffer.data() + align_up(bytes), [](std::byte b) { return b == std::byte{}; }))
        << bytes << " bytes";
  }
}

TEST(AlignedBuffer, starts_at_a_cache_line_and_has_the_size_asked_for) {
  for (std::size_t bytes = 1; bytes < 300; bytes += 7) {
    const AlignedBuffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % AlignedBuffer::kAlignment, 0U);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(buffer.bytes().size(), bytes);
    EXPECT_EQ(buffer.bytes().data(), buffer.data());
  }
}

TEST(AlignedBuffer, of_many_megabytes_is_zeroed_and_starts_at_a_huge_page) {
  const std::size_t bytes = (std::size_t{5} << 20) + 100;  // not a multiple of a huge page
  AlignedBuffer used(bytes);
  std::fill_n(used.data(), bytes, std::byte{0xA5});
  used = AlignedBuffer();
  const AlignedBuffer buffer(bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (std::size_t{2} << 20), 0U);
  EXPECT_TRUE(
      std::all_of(buffer.data(), buffer.data() + align_up(bytes), [](std::byte b) { return b == std::byte{}; }));
}

TEST(AlignedBuffer, of_many_megabytes_is_given_back_when_it_is_freed) {
  const std::size_t bytes = std::size_t{96} << 20;
  const std::size_t before = resident_memory_bytes();
  if (before == 0) GTEST_SKIP() << "this system does not tell what a process holds";
  {
    // The small buffers lie between the large ones and the end of the heap, so malloc could not return freed memory.
    std::vector<AlignedBuffer> buffers;
    for (int i = 0; i < 3; ++i) {
      buffers.emplace_back(bytes / 3);
      buffers.emplace_back(1000);
    }
    EXPECT_GE(resident_memory_bytes(), before + bytes * 9 / 10) << "not resident from the start";
    for (int i = 0; i < 3; ++i) buffers[2 * i] = AlignedBuffer();
    EXPECT_LE(resident_memory_bytes(), before + bytes / 10);
  }
}

TEST(AlignedBuffer, of_no_bytes_owns_nothing) {
  EXPECT_EQ(AlignedBuffer().data(), nullptr);
  EXPECT_EQ(AlignedBuffer(0).data(), nullptr);
  EXPECT_TRUE(AlignedBuffer(0).bytes().empty());
}

TEST(AlignedBuffer, moving_hands_the_memory_over) {
  AlignedBuffer first(100);
  first.bytes()[99] = std::byte{7};
  const std::byte* address = first.data();
  const AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(second.bytes()[99], std::byte{7});
}

TEST(AlignedBuffer, refuses_what_no_machine_has_naming_the_size) {
  for (const std::size_t bytes : {(std::size_t{1} << 46) + 1, SIZE_MAX - 10, SIZE_MAX}) {
    try {
      const AlignedBuffer buffer(bytes);
      FAIL() << bytes << " bytes were given";
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string_view(error.what()).find(std::to_string(bytes)), std::string_view::npos) << error.what();
    }
  }
}

TEST(AlignUp, rounds_up_to_whole_lines) {
  static_assert(align_up(0) == 0);
  static_assert(align_up(1) == 64);
  static_assert(align_up(64) == 64);
  static_assert(align_up(65) == 128);
}

}  // namespace
}  // namespace roentgen::runtime
