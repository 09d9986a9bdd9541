// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loops over bf16 must give the bits of loops over f32 on the same numbers, with results rounded once.
#include "engine/cpu/plan/bf16.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/random.h"
#include "engine/cpu/simd/batch_norm.h"
#include "engine/cpu/simd/flat.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu::simd {
namespace {

using Wide = std::vector<float>;
using Narrow = std::vector<Bf16>;

Narrow narrowed(const Wide& values) {
  Narrow made;
  for (const float value : values) made.push_back(to_bf16(value));
  return made;
}
Wide widened(const Narrow& values) {
  Wide made;
  for (const Bf16 value : values) made.push_back(to_f32(value));
  return made;
}

Wide normals(std::int64_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  Wide values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.normal() + 0.5);
  return values;
}
// Random numbers that bf16 represents exactly.
Wide exact_normals(std::int64_t count, std::uint64_t seed) { return widened(narrowed(normals(count, seed))); }

// Numbers with every exponent, ties of both kinds and their neighbours, and both signs.
Wide special_values() {
  Wide values{0.0F, 1.0F, 0x1p-149F, 0x1p-127F, std::numeric_limits<float>::max(), INFINITY, 3.0F};
  for (int exponent = -130; exponent <= 127; ++exponent) {
    for (const float fraction :
         {0x1.00p0F, 0x1.01p0F, 0x1.02p0F, 0x1.03p0F, 0x1.010002p0F, 0x1.00fffep0F, 0x1.fffffep0F}) {
      values.push_back(std::ldexp(fraction, exponent));
    }
  }
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

TEST(Bf16Number, is_the_nearest_one_and_of_two_as_near_the_even_one) {
  for (const float value : special_values()) {
    const Bf16 chosen = to_bf16(value);
    if (!std::isfinite(to_f32(chosen))) {
      // Larger than the largest bf16 number by half a step or more.
      EXPECT_GE(std::abs(value), 0x1.ffp127F) << value;
      continue;
    }
    const double error = std::abs(static_cast<double>(to_f32(chosen)) - static_cast<double>(value));
    for (const int step : {-1, 1}) {
      const Bf16 other{static_cast<std::uint16_t>(chosen.bits + step)};
      if (!std::isfinite(to_f32(other))) continue;
      const double other_error = std::abs(static_cast<double>(to_f32(other)) - static_cast<double>(value));
      EXPECT_LE(error, other_error) << value;
      if (error == other_error) {
        EXPECT_EQ(chosen.bits & 1U, 0U) << value;
      }
    }
  }
  EXPECT_TRUE(std::isnan(to_f32(to_bf16(std::nanf("")))));
  EXPECT_TRUE(std::isnan(to_f32(to_bf16(std::bit_cast<float>(0x7f800001U))))) << "not the infinity it is cut to";
}

class Bf16Loops : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if ((hwy::SupportedTargets() & GetParam()) == 0) {
      GTEST_SKIP() << "SKIPPED: this machine has no " << hwy::TargetName(GetParam());
    }
    hwy::SetSupportedTargetsForTest(GetParam());
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(Bf16Loops, convert_as_the_plain_functions_do) {
  Wide values = special_values();
  values.push_back(std::nanf(""));
  values.push_back(std::bit_cast<float>(0x7f800001U));
  Narrow got(values.size());
  convert(values.data(), got.data(), std::ssize(values));
  const Narrow expected = narrowed(values);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(got[i].bits, expected[i].bits) << values[i];
  Wide back(values.size());
  convert(expected.data(), back.data(), std::ssize(back));
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back[i]), std::uint32_t{expected[i].bits} << 16U) << values[i];
  }
}

TEST_P(Bf16Loops, sum_and_relu_round_once) {
  constexpr std::int64_t kCount = 75;  // whole vectors and a remainder
  const Wide a = exact_normals(kCount, 1), b = exact_normals(kCount, 2), c = exact_normals(kCount, 3);
  const Narrow na = narrowed(a), nb = narrowed(b), nc = narrowed(c);
  Wide wide(a.size());
  Narrow narrow(a.size());

  const std::vector<const float*> wide_terms{a.data(), b.data(), c.data()};
  const std::vector<const Bf16*> narrow_terms{na.data(), nb.data(), nc.data()};
  sum_arrays(std::span<const float* const>(wide_terms), wide.data(), kCount);
  sum_arrays(std::span<const Bf16* const>(narrow_terms), narrow.data(), kCount);
  EXPECT_EQ(narrow, narrowed(wide));

  relu(a.data(), wide.data(), kCount);
  relu(na.data(), narrow.data(), kCount);
  EXPECT_EQ(narrow, narrowed(wide));
  relu_backward(a.data(), b.data(), wide.data(), kCount);
  relu_backward(na.data(), nb.data(), narrow.data(), kCount);
  EXPECT_EQ(narrow, narrowed(wide));

  narrow = {to_bf16(std::nanf(""))};
  relu(narrow.data(), narrow.data(), 1);
  EXPECT_TRUE(std::isnan(to_f32(narrow[0])));
}

struct Extent {
  int block;
  std::int64_t pixels;
};
constexpr Extent kExtents[] = {{16, 1}, {16, 7}, {16, 150}, {8, 65}, {4, 49}};

// Returns a row of the normalised value as it is stored. X is float if a convolution computed the value in f32.
template <class X>
std::vector<X> stored(const Wide& values) {
  if constexpr (std::is_same_v<X, Bf16>) {
    return narrowed(values);
  } else {
    return values;
  }
}

template <class X>
void expect_forward_alike(const Extent& e) {
  const std::int64_t n = e.pixels * e.block;
  const Wide x = exact_normals(n, 1), r = exact_normals(n, 2), a = normals(e.block, 3), b = normals(e.block, 4);
  const std::vector<X> nx = stored<X>(x);
  const Narrow nr = narrowed(r);
  for (const bool stream : {false, true}) {
    for (const bool has_residual : {false, true}) {
      Wide wide(x.size());
      const runtime::AlignedBuffer buffer(x.size() * sizeof(Bf16));
      auto* narrow = reinterpret_cast<Bf16*>(buffer.data());
      scale_shift(ScaleShift<>{.x = x.data(),
                               .residual = has_residual ? r.data() : nullptr,
                               .y = wide.data(),
                               .scale = a.data(),
                               .shift = b.data(),
                               .pixels = e.pixels,
                               .block = e.block,
                               .relu = true});
      scale_shift(ScaleShift<X, Bf16>{.x = nx.data(),
                                      .residual = has_residual ? nr.data() : nullptr,
                                      .y = narrow,
                                      .scale = a.data(),
                                      .shift = b.data(),
                                      .pixels = e.pixels,
                                      .block = e.block,
                                      .relu = true,
                                      .stream = stream});
      EXPECT_EQ(Narrow(narrow, narrow + n), narrowed(wide));
    }
  }
  std::vector<double> sum(static_cast<std::size_t>(e.block)), sum_sq(sum), narrow_sum(sum), narrow_sq(sum);
  moments(x.data(), e.pixels, e.block, b.data(), sum.data(), sum_sq.data());
  moments(nx.data(), e.pixels, e.block, b.data(), narrow_sum.data(), narrow_sq.data());
  EXPECT_EQ(narrow_sum, sum);
  EXPECT_EQ(narrow_sq, sum_sq);
}

template <class X>
void expect_backward_alike(const Extent& e) {
  const std::int64_t n = e.pixels * e.block;
  const Wide x = exact_normals(n, 5), y = exact_normals(n, 6), dy = exact_normals(n, 7), dy2 = exact_normals(n, 8),
             before = exact_normals(n, 9);
  const Wide a = normals(e.block, 10), b = normals(e.block, 11), mean = normals(e.block, 12),
             factor = normals(e.block, 13);
  const std::vector<X> nx = stored<X>(x);
  const Narrow ny = narrowed(y), ndy = narrowed(dy), ndy2 = narrowed(dy2);
  for (const Mask mask : {Mask::None, Mask::FromX, Mask::FromY}) {
    Wide g = before, again(x.size());
    Narrow narrow_g = narrowed(before);
    const runtime::AlignedBuffer buffer(x.size() * sizeof(Bf16));
    auto* narrow_again = reinterpret_cast<Bf16*>(buffer.data());
    std::vector<double> sum(static_cast<std::size_t>(e.block)), sum_x(sum), narrow_sum(sum), narrow_sum_x(sum);
    const bool is_again = mask == Mask::FromX;
    gradient_sums(GradientSums<>{.x = x.data(),
                                 .y = y.data(),
                                 .dy = dy.data(),
                                 .dy2 = dy2.data(),
                                 .g = g.data(),
                                 .y_again = is_again ? again.data() : nullptr,
                                 .scale = a.data(),
                                 .shift = b.data(),
                                 .mean = mean.data(),
                                 .factor = factor.data(),
                                 .sum = sum.data(),
                                 .sum_x = sum_x.data(),
                                 .pixels = e.pixels,
                                 .block = e.block,
                                 .mask = mask,
                                 .is_accumulating = true});
    gradient_sums(GradientSums<X, Bf16>{.x = nx.data(),
                                        .y = ny.data(),
                                        .dy = ndy.data(),
                                        .dy2 = ndy2.data(),
                                        .g = narrow_g.data(),
                                        .y_again = is_again ? narrow_again : nullptr,
                                        .scale = a.data(),
                                        .shift = b.data(),
                                        .mean = mean.data(),
                                        .factor = factor.data(),
                                        .sum = narrow_sum.data(),
                                        .sum_x = narrow_sum_x.data(),
                                        .pixels = e.pixels,
                                        .block = e.block,
                                        .mask = mask,
                                        .is_accumulating = true,
                                        .stream = e.pixels % 2 == 1});
    EXPECT_EQ(narrow_g, narrowed(g));
    EXPECT_EQ(narrow_sum, sum);
    EXPECT_EQ(narrow_sum_x, sum_x);
    if (is_again) {
      EXPECT_EQ(Narrow(narrow_again, narrow_again + n), narrowed(again));
    }
  }

  Wide dx(x.size());
  std::vector<X> narrow_dx(x.size());
  gradient_apply(GradientApply<>{.x = x.data(),
                                 .g = dy.data(),
                                 .dx = dx.data(),
                                 .scale = a.data(),
                                 .shift = b.data(),
                                 .by_g = a.data(),
                                 .by_x = factor.data(),
                                 .constant = mean.data(),
                                 .pixels = e.pixels,
                                 .block = e.block,
                                 .mask = Mask::FromX});
  gradient_apply(GradientApply<X, Bf16>{.x = nx.data(),
                                        .g = ndy.data(),
                                        .dx = narrow_dx.data(),
                                        .scale = a.data(),
                                        .shift = b.data(),
                                        .by_g = a.data(),
                                        .by_x = factor.data(),
                                        .constant = mean.data(),
                                        .pixels = e.pixels,
                                        .block = e.block,
                                        .mask = Mask::FromX});
  EXPECT_EQ(narrow_dx, stored<X>(dx));
}

TEST_P(Bf16Loops, normalise_as_f32_does) {
  for (const Extent& extent : kExtents) {
    SCOPED_TRACE(extent.pixels);
    expect_forward_alike<Bf16>(extent);
    expect_forward_alike<float>(extent);
  }
}

TEST_P(Bf16Loops, differentiate_the_norm_as_f32_does) {
  for (const Extent& extent : kExtents) {
    SCOPED_TRACE(extent.pixels);
    expect_backward_alike<Bf16>(extent);
    expect_backward_alike<float>(extent);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Bf16Loops, testing::Values(HWY_AVX3, HWY_AVX2),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

}  // namespace
}  // namespace roentgen::engine::cpu::simd
