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

std::uint16_t rounded(float value, Wire wire = Wire::Bf16) {
  std::uint16_t bits = 0;
  to_wire(wire, {&value, 1}, {&bits, 1});
  return bits;
}

float widened(std::uint16_t bits, Wire wire = Wire::Bf16) {
  float value = 0.0F;
  from_wire(wire, {&bits, 1}, {&value, 1});
  return value;
}

TEST(Wire, knows_its_formats) {
  EXPECT_EQ(parse_wire("f32"), Wire::F32);
  EXPECT_EQ(parse_wire("bf16"), Wire::Bf16);
  EXPECT_EQ(parse_wire("f16"), Wire::F16);
  EXPECT_EQ(wire_bytes(Wire::F32, 3), 12U);
  for (const Wire wire : {Wire::Bf16, Wire::F16}) EXPECT_EQ(wire_bytes(wire, 3), 6U);
  try {
    static_cast<void>(parse_wire("f8"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "[dist.reduce] wire format: expected f32, bf16, f16, got f8; try one of these names");
  }
}

TEST(Wire, all_16_bits_come_back_as_they_were) {
  for (const Wire wire : {Wire::Bf16, Wire::F16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float value = widened(static_cast<std::uint16_t>(bits), wire);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(widened(rounded(value, wire), wire))) << bits;
      } else {
        EXPECT_EQ(rounded(value, wire), bits);
      }
    }
  }
}

// The value of a binary16 by its definition: sign, 5 bits of exponent, 10 of digits.
TEST(Wire, f16_are_the_numbers_of_ieee_754) {
  for (std::uint32_t bits = 0; bits < 0x8000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10U), digits = static_cast<int>(bits & 0x3FFU);
    const double wanted = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
    const float plus = widened(static_cast<std::uint16_t>(bits), Wire::F16);
    const float minus = widened(static_cast<std::uint16_t>(bits | 0x8000U), Wire::F16);
    EXPECT_TRUE(std::signbit(minus) && !std::signbit(plus)) << bits;
    if (exponent < 31) {
      ASSERT_EQ(static_cast<double>(plus), wanted) << bits;
      ASSERT_EQ(minus, -plus) << bits;
    } else {
      ASSERT_EQ(std::isnan(plus), digits != 0) << bits;
      ASSERT_EQ(std::isinf(plus), digits == 0) << bits;
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
  for (const Wire wire : {Wire::Bf16, Wire::F16}) {
    EXPECT_TRUE(std::isnan(widened(rounded(std::bit_cast<float>(0x7F800001U), wire), wire))) << "low bits alone";
    EXPECT_TRUE(std::isnan(widened(rounded(std::bit_cast<float>(0xFFFFFFFFU), wire), wire)));
  }
}

TEST(Wire, f16_rounds_at_the_ends_of_its_range) {
  const auto round_trip = [](float value) { return widened(rounded(value, Wire::F16), Wire::F16); };
  EXPECT_EQ(round_trip(65519.99F), 65504.0F);
  EXPECT_EQ(round_trip(65520.0F), std::numeric_limits<float>::infinity());
  EXPECT_EQ(round_trip(-1e30F), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(round_trip(0x1p-24F), 0x1p-24F) << "the smallest";
  EXPECT_EQ(round_trip(0x1p-25F), 0.0F) << "a tie, down to even";
  EXPECT_EQ(round_trip(-0x1.002p-25F), -0x1p-24F);
  EXPECT_EQ(round_trip(0x1.FFCp-15F), 0x1p-14F) << "a subnormal's tie, up to the first normal number";
}

TEST(Wire, is_nearest_for_any_bits) {
  std::mt19937 random(20261122);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    for (const Wire wire : {Wire::Bf16, Wire::F16}) {
      const std::uint16_t got = rounded(value, wire);
      if (std::isinf(widened(got, wire))) continue;
      const double error = std::abs(static_cast<double>(widened(got, wire)) - value);
      for (const int step : {-1, 1}) {
        const float other = widened(static_cast<std::uint16_t>(got + step), wire);
        if (!std::isfinite(other)) continue;
        ASSERT_LE(error, std::abs(static_cast<double>(other) - value)) << value;
      }
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

TEST(Wire, sums_f16_in_float32_and_rounds_the_mean_alone) {
  std::vector<float> own(3000, 1.0F);
  const std::vector<std::uint16_t> one(own.size(), rounded(0x1p-12F, Wire::F16));
  const auto* bytes = std::as_bytes(std::span(one)).data();
  const std::byte* const sources[] = {bytes, bytes, bytes};
  std::vector<float> sum = own;
  sum_into(sum, {.wire = Wire::F16, .sources = sources});
  EXPECT_EQ(sum.back(), 1.0F + 3 * 0x1p-12F) << "which f16 cannot hold";
  sum_into(own, {.wire = Wire::F16, .sources = sources, .mean_factor = 0.25F});
  EXPECT_EQ(own.back(), 0.25F + 0x1p-12F) << "a quarter of it, rounded up";
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
