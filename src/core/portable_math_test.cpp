// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Two tests: results close to libm (within 1 unit in the last place of the truth), and bits that never change. The
// golden values were written once by this code; synthetic data sets depend on them.
#include "core/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/random.h"

namespace roentgen {
namespace {
constexpr std::uint64_t kSeed = 77;
constexpr int kDraws = 200'000;

/// Distance of two numbers in units in the last place.
std::int64_t ulps(double a, double b) {
  const auto rank = [](double x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
  };
  return std::abs(rank(a) - rank(b));
}

template <typename Draw, typename Ours, typename Libm>
std::int64_t worst_ulps(Draw draw, Ours ours, Libm libm) {
  Random random(kSeed, RandomStage::Test);
  std::int64_t worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw(random);
    worst = std::max(worst, ulps(ours(x), libm(x)));
  }
  return worst;
}
constexpr auto kLog = [](double x) { return std::log(x); };
constexpr auto kExp = [](double x) { return std::exp(x); };
constexpr auto kSin = [](double x) { return std::sin(x); };
constexpr auto kCos = [](double x) { return std::cos(x); };

// Bounds: over 2e6 draws, the largest differences were 3 for log and 1 for the other functions.
TEST(PortableMath, log_is_within_4_ulp_of_libm) {
  EXPECT_LE(worst_ulps([](Random& r) { return r.uniform(0.5, 2.0); }, portable_log, kLog), 4);
  EXPECT_LE(worst_ulps([](Random& r) { return std::exp(r.uniform(-700.0, 700.0)); }, portable_log, kLog), 4);
}

TEST(PortableMath, exp_is_within_2_ulp_of_libm) {
  EXPECT_LE(worst_ulps([](Random& r) { return r.uniform(-700.0, 700.0); }, portable_exp, kExp), 2);
  EXPECT_LE(worst_ulps([](Random& r) { return r.uniform(-1.0, 1.0); }, portable_exp, kExp), 2);
}

TEST(PortableMath, sin_and_cos_are_within_2_ulp_of_libm_near_zero) {
  const auto draw = [](Random& r) { return r.uniform(-0.78, 0.78); };
  EXPECT_LE(worst_ulps(draw, portable_sin, kSin), 2);
  EXPECT_LE(worst_ulps(draw, portable_cos, kCos), 2);
}

// Near zeros of sine and cosine far from 0, the absolute error of the range reduction dominates: 2.2e-16, the spacing
// of doubles near 1.
TEST(PortableMath, sin_and_cos_are_within_one_rounding_of_libm_up_to_a_million) {
  Random random(kSeed, RandomStage::Test);
  for (int i = 0; i < kDraws; ++i) {
    const double angle_rad = random.uniform(-1e6, 1e6);
    ASSERT_NEAR(portable_sin(angle_rad), std::sin(angle_rad), 0x1p-52) << "angle " << angle_rad << ", seed " << kSeed;
    ASSERT_NEAR(portable_cos(angle_rad), std::cos(angle_rad), 0x1p-52) << "angle " << angle_rad << ", seed " << kSeed;
  }
}

// exp(y log x) multiplies the rounding error of the logarithm (a few units) by y log x.
TEST(PortableMath, pow_is_as_close_as_its_exponent_allows) {
  Random random(kSeed, RandomStage::Test);
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform(0.0, 10.0);
    const double y = random.uniform(-5.0, 5.0);
    const auto bound = static_cast<std::int64_t>(3.0 + 3.0 * std::abs(y * std::log(x)));
    ASSERT_LE(ulps(portable_pow(x, y), std::pow(x, y)), bound) << x << " to the " << y << ", seed " << kSeed;
  }
}

TEST(PortableMath, sin_squared_and_cos_squared_add_up_to_one) {
  Random random(kSeed, RandomStage::Test);
  for (int i = 0; i < 10'000; ++i) {
    const double angle_rad = random.uniform(-1000.0, 1000.0);
    const double s = portable_sin(angle_rad);
    const double c = portable_cos(angle_rad);
    ASSERT_NEAR(s * s + c * c, 1.0, 4 * 0x1p-52) << "angle " << angle_rad;
  }
}

TEST(PortableMath, edges_are_those_of_the_header) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable_log(1.0), 0.0);
  EXPECT_EQ(portable_log(0.0), -kInfinity);
  EXPECT_EQ(portable_log(-1.0), -kInfinity);
  EXPECT_EQ(portable_exp(0.0), 1.0);
  EXPECT_EQ(portable_exp(1000.0), kInfinity);
  EXPECT_EQ(portable_exp(-1000.0), 0.0);
  EXPECT_EQ(portable_sin(0.0), 0.0);
  EXPECT_EQ(portable_cos(0.0), 1.0);
  EXPECT_EQ(portable_pow(0.0, 0.0), 1.0);
  EXPECT_EQ(portable_pow(0.0, 2.5), 0.0);
  EXPECT_EQ(portable_pow(0.0, -1.0), kInfinity);
  EXPECT_LE(ulps(portable_log(1e-310), std::log(1e-310)), 2) << "subnormal numbers too";
}

TEST(PortableMath, keeps_its_bits) {
  EXPECT_EQ(portable_log(0.1), -0x1.26bb1bbb55515p+1);
  EXPECT_EQ(portable_log(2.0), 0x1.62e42fefa39efp-1);
  EXPECT_EQ(portable_log(10.0), 0x1.26bb1bbb55516p+1);
  EXPECT_EQ(portable_log(1e300), 0x1.5963447f87fb5p+9);
  EXPECT_EQ(portable_exp(-700.0), 0x1.14f2b0fb9307fp-1010);
  EXPECT_EQ(portable_exp(-1.0), 0x1.78b56362cef38p-2);
  EXPECT_EQ(portable_exp(0.5), 0x1.a61298e1e069cp+0);
  EXPECT_EQ(portable_exp(10.0), 0x1.5829dcf95056p+14);
  EXPECT_EQ(portable_exp(700.0), 0x1.d945df4f8ec8ep+1009);
  EXPECT_EQ(portable_sin(0.5), 0x1.eaee8744b05fp-2);
  EXPECT_EQ(portable_cos(0.5), 0x1.c1528065b7d5p-1);
  EXPECT_EQ(portable_sin(3.0), 0x1.210386db6d55bp-3);
  EXPECT_EQ(portable_cos(100.0), 0x1.b981dbf665fep-1);
  EXPECT_EQ(portable_sin(-2.5), -0x1.326af0dcfcabp-1);
  EXPECT_EQ(portable_pow(2.0, 0.5), 0x1.6a09e667f3bccp+0);
  EXPECT_EQ(portable_pow(10.0, -3.0), 0x1.0624dd2f1a9f9p-10);
  EXPECT_EQ(portable_pow(0.3, 2.2), 0x1.21c08eb3f512dp-4);
}

// Sums function values over the whole range. Any changed bit would change the sum.
TEST(PortableMath, keeps_its_bits_over_a_sweep) {
  Random random(kSeed, RandomStage::Test);
  std::uint64_t hash = 0;
  for (int i = 0; i < 50'000; ++i) {
    const double x = random.uniform(1e-3, 500.0);
    for (const double value : {portable_log(x), portable_exp(x), portable_sin(x), portable_cos(x), random.normal()}) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 29;
    }
  }
  EXPECT_EQ(hash, 0x49f80c3bb2c52f86U);
}
}  // namespace
}  // namespace roentgen
