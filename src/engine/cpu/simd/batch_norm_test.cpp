// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the vector loops with plain double loops, for every block size and every instruction set of this machine.
#include "engine/cpu/simd/batch_norm.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "engine/cpu/simd/flat.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu::simd {
namespace {

struct Case {
  int block;
  std::int64_t pixels;
};

std::vector<float> normals(std::int64_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.normal() + 0.5);
  return values;
}

class BatchNormLoops : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if ((hwy::SupportedTargets() & GetParam()) == 0) {
      GTEST_SKIP() << "SKIPPED: this machine has no " << hwy::TargetName(GetParam());
    }
    hwy::SetSupportedTargetsForTest(GetParam());
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
  // Odd pixel counts test the tails of unrolled loops; 150 pixels take several chains of sums.
  const std::vector<Case> cases_{{16, 1}, {16, 7}, {16, 150}, {8, 64}, {8, 65}, {4, 49}};
};

TEST_P(BatchNormLoops, moments_match_double_sums) {
  for (const Case& c : cases_) {
    const auto x = normals(c.pixels * c.block, 1);
    const auto pivot = normals(c.block, 2);
    std::vector<double> sum(static_cast<std::size_t>(c.block)), sum_sq(sum);
    moments(x.data(), c.pixels, c.block, pivot.data(), sum.data(), sum_sq.data());
    for (int lane = 0; lane < c.block; ++lane) {
      double expected = 0.0, expected_sq = 0.0, size = 0.0;
      for (std::int64_t i = 0; i < c.pixels; ++i) {
        const double d = static_cast<double>(x[static_cast<std::size_t>(i * c.block + lane)]) -
                         static_cast<double>(pivot[static_cast<std::size_t>(lane)]);
        expected += d;
        expected_sq += d * d;
        size += std::abs(d);
      }
      // Sums are chains of 32 f32 additions, each off by at most 2^-24 of the running sum.
      EXPECT_NEAR(sum[static_cast<std::size_t>(lane)], expected, 34 * 0x1p-24 * size);
      EXPECT_NEAR(sum_sq[static_cast<std::size_t>(lane)], expected_sq, 36 * 0x1p-24 * expected_sq);
    }
  }
}

TEST_P(BatchNormLoops, forward_is_scale_shift_residual_relu) {
  for (const Case& c : cases_) {
    const auto x = normals(c.pixels * c.block, 3), r = normals(c.pixels * c.block, 4);
    const auto a = normals(c.block, 5), b = normals(c.block, 6);
    for (const bool with_residual : {false, true}) {
      for (const bool relu : {false, true}) {
        for (const bool stream : {false, true}) {
          const runtime::AlignedBuffer out(x.size() * sizeof(float));
          float* y = reinterpret_cast<float*>(out.data());
          scale_shift(ScaleShift<>{.x = x.data(),
                                   .residual = with_residual ? r.data() : nullptr,
                                   .y = y,
                                   .scale = a.data(),
                                   .shift = b.data(),
                                   .pixels = c.pixels,
                                   .block = c.block,
                                   .relu = relu,
                                   .stream = stream});
          for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t lane = i % static_cast<std::size_t>(c.block);
            double expected = static_cast<double>(x[i]) * static_cast<double>(a[lane]) + static_cast<double>(b[lane]);
            if (with_residual) expected += static_cast<double>(r[i]);
            if (relu) expected = std::max(expected, 0.0);
            EXPECT_NEAR(static_cast<double>(y[i]), expected, 4 * 0x1p-24 * 16.0);  // three roundings below 16
          }
        }
      }
    }
  }
}

// NaN weights must lead to a NaN loss, not to a plausible one.
TEST_P(BatchNormLoops, relu_lets_nan_through) {
  const float nan = std::nanf("");
  const std::vector<float> one(16, 1.0F), zero(16, 0.0F);
  std::vector<float> x(16, -1.0F), y(16);
  x[5] = nan;
  scale_shift(
      ScaleShift<>{.x = x.data(), .y = y.data(), .scale = one.data(), .shift = zero.data(), .pixels = 1, .relu = true});
  relu(x.data(), x.data(), 16);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(std::isnan(y[i]), i == 5) << i;
    EXPECT_EQ(std::isnan(x[i]), i == 5) << i;
  }
}

TEST_P(BatchNormLoops, gradient_sums_mask_sum_and_write_in_one_pass) {
  for (const Case& c : cases_) {
    const std::int64_t n = c.pixels * c.block;
    const auto x = normals(n, 7), y = normals(n, 8), dy = normals(n, 9), dy2 = normals(n, 10), before = normals(n, 11);
    const auto a = normals(c.block, 12), b = normals(c.block, 13), mean = normals(c.block, 14),
               factor = normals(c.block, 15);
    for (const Mask mask : {Mask::None, Mask::FromX, Mask::FromY}) {
      std::vector<float> g = before;
      const runtime::AlignedBuffer again_buffer(x.size() * sizeof(float));
      float* again = reinterpret_cast<float*>(again_buffer.data());
      std::vector<double> sum(static_cast<std::size_t>(c.block)), sum_x(sum);
      gradient_sums(GradientSums<>{.x = x.data(),
                                   .y = y.data(),
                                   .dy = dy.data(),
                                   .dy2 = dy2.data(),
                                   .g = g.data(),
                                   .y_again = mask == Mask::FromX ? again : nullptr,
                                   .scale = a.data(),
                                   .shift = b.data(),
                                   .mean = mean.data(),
                                   .factor = factor.data(),
                                   .sum = sum.data(),
                                   .sum_x = sum_x.data(),
                                   .pixels = c.pixels,
                                   .block = c.block,
                                   .mask = mask,
                                   .is_accumulating = true,
                                   .stream = c.pixels % 2 == 1});
      std::vector<double> expected(sum.size()), expected_x(sum.size()), size(sum.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t lane = i % sum.size();
        const float again_value = std::fma(x[i], a[lane], b[lane]);
        bool passes = true;
        if (mask == Mask::FromX) passes = again_value > 0.0F;
        if (mask == Mask::FromY) passes = y[i] > 0.0F;
        const double masked = passes ? static_cast<double>(dy[i] + dy2[i]) : 0.0;
        const double centred = static_cast<double>(x[i]) - static_cast<double>(mean[lane]);
        expected[lane] += masked;
        expected_x[lane] += masked * centred;
        size[lane] += std::abs(masked) * (1.0 + std::abs(centred));
        EXPECT_NEAR(static_cast<double>(g[i]),
                    static_cast<double>(before[i]) + masked * static_cast<double>(factor[lane]), 1e-5);
        if (mask == Mask::FromX) {
          EXPECT_EQ(again[i], std::max(again_value, 0.0F));
        }
      }
      for (std::size_t lane = 0; lane < sum.size(); ++lane) {
        EXPECT_NEAR(sum[lane], expected[lane], 36 * 0x1p-24 * size[lane]);
        EXPECT_NEAR(sum_x[lane], expected_x[lane], 36 * 0x1p-24 * size[lane]);
      }
    }
  }
}

TEST_P(BatchNormLoops, gradient_apply_is_linear_in_g_and_x) {
  for (const Case& c : cases_) {
    const std::int64_t n = c.pixels * c.block;
    const auto x = normals(n, 16), g = normals(n, 17);
    const auto a = normals(c.block, 19), b = normals(c.block, 20), by_g = normals(c.block, 21),
               by_x = normals(c.block, 22), constant = normals(c.block, 23);
    std::vector<float> dx = g, again(x.size());
    gradient_apply(GradientApply<>{.x = x.data(),
                                   .g = dx.data(),
                                   .dx = dx.data(),
                                   .y_again = again.data(),
                                   .scale = a.data(),
                                   .shift = b.data(),
                                   .by_g = by_g.data(),
                                   .by_x = by_x.data(),
                                   .constant = constant.data(),
                                   .pixels = c.pixels,
                                   .block = c.block,
                                   .mask = Mask::FromX,
                                   .relu = true});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t lane = i % static_cast<std::size_t>(c.block);
      const float y = std::fma(x[i], a[lane], b[lane]);
      const double masked = y > 0.0F ? static_cast<double>(g[i]) : 0.0;
      const double expected = static_cast<double>(by_g[lane]) * masked +
                              static_cast<double>(by_x[lane]) * static_cast<double>(x[i]) +
                              static_cast<double>(constant[lane]);
      EXPECT_NEAR(static_cast<double>(dx[i]), expected, 1e-5);
      EXPECT_EQ(again[i], std::max(y, 0.0F));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BatchNormLoops, testing::Values(HWY_AVX3, HWY_AVX2),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

}  // namespace
}  // namespace roentgen::engine::cpu::simd
