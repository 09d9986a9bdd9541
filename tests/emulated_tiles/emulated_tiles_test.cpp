// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that this program uses the emulated tiles, and that the emulation follows the manual.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>

#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd {
namespace {

TEST(AMX, is_emulated) {
  if (!has_unit(ProductUnit::Avx512)) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512 for bf16";
  EXPECT_TRUE(has_tiles());
  EXPECT_EQ(tile_instructions(), "AMX, emulated");
  EXPECT_EQ(bf16_unit(), ProductUnit::Amx);
}

// Fixture with bf16 numbers given by their bits. The first and the second number of a pair of `a` are multiplied by
// those of the pair of `b`.
class AMX_product : public testing::Test {
 protected:
  static constexpr std::uint16_t kOne = 0x3f80, kTwo = 0x4000, kLeast = 0x0001, kLarge = 0x4b80;  // 1, 2, 2^-133, 2^24

  void SetUp() override {
    if (!has_unit(ProductUnit::Avx512)) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512 for bf16";
  }
  float result() {
    const TileSession session(ProductUnit::Amx);
    const std::int64_t step = 0;
    tile_product(ProductUnit::Amx, {.a = reinterpret_cast<const std::byte*>(a_.data()),
                                    .a_steps = &step,
                                    .b = reinterpret_cast<const std::byte*>(b_.data()),
                                    .c = c_.data(),
                                    .steps = 1,
                                    .row_tiles = 1,
                                    .column_tiles = 1,
                                    .planes = 1,
                                    .is_accumulating = true});
    return c_[0];
  }
  // Sets term `term` of the element in row 0 and column 0.
  void set(std::size_t term, std::uint16_t a, std::uint16_t b) {
    a_.at(term) = a;
    b_.at(term / 2 * 32 + term % 2) = b;
  }

  alignas(64) std::array<std::uint16_t, 512> a_{};
  alignas(64) std::array<std::uint16_t, 512> b_{};
  alignas(64) std::array<float, 256> c_{};
};

TEST_F(AMX_product, takes_numbers_below_the_least_normal_one_for_zero) {
  set(0, kLeast, kOne);
  set(3, kTwo, kOne);
  c_[0] = std::bit_cast<float>(1U);
  EXPECT_EQ(result(), 2.0F);
}
// The products of first numbers and of second numbers have separate sums; in a single sum, 2^24 + 1 would lose the 1.
TEST_F(AMX_product, adds_up_first_and_second_numbers_of_pairs_apart) {
  set(0, kLarge, kOne);
  set(1, kOne, kOne);
  set(3, kOne, kOne);
  EXPECT_EQ(result(), 16777218.0F);
}
TEST_F(AMX_product, adds_to_what_is_there) {
  set(0, kTwo, kTwo);
  c_[0] = 3.0F;
  EXPECT_EQ(result(), 7.0F);
}

}  // namespace
}  // namespace roentgen::engine::cpu::simd
