// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/reduce/wire.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/error.h"

namespace roentgen::dist {
namespace {

std::uint16_t rounded(float value) {
  std::uint16_t bits = 0;
  to_bf16({&value, 1}, {&bits, 1});
  return bits;
}

float widened(std::uint16_t bits) {
  float value = 0.0F;
  from_bf16({&bits, 1}, {&value, 1});
  return value;
}

TEST(Wire, knows_its_formats) {
  EXPECT_EQ(parse_wire("f32"), Wire::F32);
  EXPECT_EQ(parse_wire("bf16"), Wire::Bf16);
  EXPECT_EQ(wire_bytes(Wire::F32, 3), 12U);
  EXPECT_EQ(wire_bytes(Wire::Bf16, 3), 6U);
  try {
    static_cast<void>(parse_wire("f16"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "[dist.reduce] wire format: expected f32, bf16, got f16; try one of these");
  }
}

TEST(Wire, every_bf16_comes_back_as_it_was) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = widened(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(widened(rounded(value)))) << bits;
    } else {
      EXPECT_EQ(rounded(value), bits);
    }
  }
}

TEST(Wire, rounds_to_the_nearest_and_ties_to_even) {
  EXPECT_EQ(widened(rounded(1.0F + 0x1p-8F)), 1.0F) << "a tie, down to even";
  EXPECT_EQ(widened(rounded(1.0F + 3 * 0x1p-8F)), 1.0F + 0x1p-6F) << "a tie, up to even";
  EXPECT_EQ(widened(rounded(1.0F + 0x1.002p-8F)), 1.0F + 0x1p-7F);
  EXPECT_EQ(widened(rounded(-1.0F - 0x1p-8F)), -1.0F);
  EXPECT_EQ(widened(rounded(std::numeric_limits<float>::max())), std::numeric_limits<float>::infinity());
  EXPECT_EQ(widened(rounded(-std::numeric_limits<float>::infinity())), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(std::bit_cast<std::uint32_t>(widened(rounded(-0.0F))), 0x80000000U);
  EXPECT_TRUE(std::isnan(widened(rounded(std::bit_cast<float>(0x7F800001U))))) << "a NaN with low bits alone";
  EXPECT_TRUE(std::isnan(widened(rounded(std::bit_cast<float>(0xFFFFFFFFU)))));
}

TEST(Wire, is_nearest_for_any_bits) {
  std::mt19937 random(20261122);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    const std::uint16_t got = rounded(value);
    const double error = std::abs(static_cast<double>(widened(got)) - value);
    if (std::isinf(widened(got))) continue;
    for (const int step : {-1, 1}) {
      const float other = widened(static_cast<std::uint16_t>(got + step));
      if (!std::isfinite(other)) continue;
      ASSERT_LE(error, std::abs(static_cast<double>(other) - value)) << value;
    }
  }
}

// Counts below, at and above a block of 1,024 elements.
TEST(Wire, sums_in_the_order_asked_for_whatever_the_length) {
  for (const std::size_t count : {0U, 1U, 1023U, 1024U, 1025U, 5000U}) {
    std::vector<float> first(count), second(count), own(count);
    for (std::size_t i = 0; i < count; ++i) {
      first[i] = 1.0F + static_cast<float>(i);
      second[i] = 1e8F;
      own[i] = -1e8F;
    }
    const std::byte* const sources[] = {std::as_bytes(std::span(first)).data(),
                                        std::as_bytes(std::span(second)).data()};
    std::vector<float> wanted(count), sum = own;
    for (std::size_t i = 0; i < count; ++i) wanted[i] = (first[i] + own[i]) + second[i];
    sum_into(sum, {.sources = sources, .own_at = 1});
    EXPECT_EQ(sum, wanted);
    for (std::size_t i = 0; i < count; ++i) wanted[i] = ((first[i] + second[i]) + own[i]) * 0.25F;
    sum = own;
    sum_into(sum, {.sources = sources, .own_at = 2, .mean_factor = 0.25F});
    EXPECT_EQ(sum, wanted);
  }
}

TEST(Wire, sums_bf16_in_float32_and_rounds_the_mean_alone) {
  std::vector<float> own(3000, 1.0F);
  const std::vector<std::uint16_t> one(own.size(), rounded(0x1p-9F));
  const auto* bytes = std::as_bytes(std::span(one)).data();
  const std::byte* const sources[] = {bytes, bytes, bytes};
  std::vector<float> sum = own;
  sum_into(sum, {.wire = Wire::Bf16, .sources = sources});
  EXPECT_EQ(sum.back(), 1.0F + 3 * 0x1p-9F) << "which bf16 cannot hold";
  sum_into(own, {.wire = Wire::Bf16, .sources = sources, .mean_factor = 0.25F});
  EXPECT_EQ(own.back(), 0.25F + 0x1p-9F) << "a quarter of it, rounded up";
}

}  // namespace
}  // namespace roentgen::dist
