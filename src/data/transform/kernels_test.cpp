// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the SIMD loops with plain double sums, at every width around the vector lengths and on every instruction set
// of this machine.
#include "data/transform/kernels.h"
#include "data/targets_testing.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/random.h"

namespace roentgen::data {
namespace {

// Error bound of a float32 sum of `terms` products, where weights sum to 1 and samples are at most `white`.
double bound(double terms, double white) { return 6e-8 * (terms + 2.0) * white; }

std::vector<float> draw_weights(Random& random, std::size_t count) {
  std::vector<float> weights(count);
  double sum = 0.0;
  for (float& weight : weights) {
    weight = static_cast<float>(random.uniform(0.01, 1.0));
    sum += weight;
  }
  for (float& weight : weights) weight = static_cast<float>(weight / sum);
  return weights;
}

template <typename T>
void check_mix_rows(std::size_t width, std::size_t taps, const char* target) {
  Random random(31, RandomStage::Test, width, static_cast<std::uint32_t>(taps));
  const std::size_t stride = width + 3;
  std::vector<T> samples((taps - 1) * stride + width);  // exactly the samples that the kernel may read
  for (T& sample : samples) sample = static_cast<T>(random.next_u32());
  const std::vector<float> weights = draw_weights(random, taps);
  std::vector<float> out(width + 1, -7.0F);
  mix_rows({samples, static_cast<std::int64_t>(stride)}, weights, std::span(out).first(width));
  for (std::size_t x = 0; x < width; ++x) {
    double sum = 0.0;
    for (std::size_t k = 0; k < taps; ++k) sum += static_cast<double>(weights[k]) * samples[k * stride + x];
    if (sizeof(T) == 2) sum /= kWideLevels;
    ASSERT_NEAR(out[x], sum, bound(static_cast<double>(taps), 255.0)) << target << ", width " << width << ", x " << x;
  }
  ASSERT_EQ(out[width], -7.0F) << target << ": wrote past the end";
}

TEST(Kernels, mix_rows_of_8_bits_sums_every_width) {
  on_every_target([](const char* target) {
    for (std::size_t width = 1; width < 150; ++width) check_mix_rows<std::uint8_t>(width, 1 + width % 11, target);
  });
}

TEST(Kernels, mix_rows_of_16_bits_sums_every_width) {
  on_every_target([](const char* target) {
    for (std::size_t width = 1; width < 150; ++width) check_mix_rows<std::uint16_t>(width, 1 + width % 11, target);
  });
}

TEST(Kernels, mix_rows_of_16_bits_has_the_bits_of_8) {
  on_every_target([](const char* target) {
    for (const std::size_t width : {1U, 5U, 16U, 37U, 256U}) {
      Random random(33, RandomStage::Test, width);
      std::vector<std::uint8_t> narrow(3 * width);
      for (std::size_t i = 0; i < narrow.size(); ++i) {
        narrow[i] = width == 256 ? static_cast<std::uint8_t>(i) : static_cast<std::uint8_t>(random.next_u32());
      }
      const std::vector<std::uint16_t> wide = [&] {
        std::vector<std::uint16_t> samples;
        for (const std::uint8_t v : narrow) samples.push_back(static_cast<std::uint16_t>(257 * v));
        return samples;
      }();
      const std::vector<float> weights = draw_weights(random, 3);
      std::vector<float> left(width), right(width);
      mix_rows({narrow, static_cast<std::int64_t>(width)}, weights, left);
      mix_rows({wide, static_cast<std::int64_t>(width)}, weights, right);
      ASSERT_EQ(left, right) << target << ", width " << width;
    }
  });
}

TEST(Kernels, mix_columns_sums_every_output) {
  on_every_target([](const char* target) {
    for (const std::int64_t outputs : {1, 3, 7, 16, 33}) {
      Random random(32, RandomStage::Test, static_cast<std::uint64_t>(outputs));
      Taps taps;
      taps.set({.start = -5.0, .step = 90.0 / static_cast<double>(outputs), .outputs = outputs, .source = 80},
               Filter::Triangle);
      std::vector<float> row(static_cast<std::size_t>(80 + taps.stride()));
      for (float& sample : row) sample = static_cast<float>(random.below(256));
      std::vector<float> out(static_cast<std::size_t>(outputs));
      mix_columns(row, taps, out);
      for (std::int64_t i = 0; i < outputs; ++i) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < taps.count(i); ++k) {
          sum += static_cast<double>(taps.weights(i)[static_cast<std::size_t>(k)]) *
                 static_cast<double>(row[static_cast<std::size_t>(taps.first(i) + k)]);
        }
        ASSERT_NEAR(out[static_cast<std::size_t>(i)], sum, bound(static_cast<double>(taps.stride()), 255.0)) << target;
      }
    }
  });
}

TEST(Kernels, finish_row_scales_and_clamps_every_width) {
  const Finish finish{.gain = 1.0F / 200.0F, .offset = -0.1F, .scale = 4.0F, .bias = -2.0F};
  on_every_target([&](const char* target) {
    for (std::size_t width = 1; width < 70; ++width) {
      std::vector<float> levels(width);
      for (std::size_t i = 0; i < width; ++i) levels[i] = static_cast<float>(i * 4);
      std::vector<float> out(width);
      finish_row(levels, finish, out);
      for (std::size_t i = 0; i < width; ++i) {
        const double v = std::clamp(static_cast<double>(i) * 4.0 / 200.0 - 0.1, 0.0, 1.0);
        ASSERT_NEAR(out[i], 4.0 * v - 2.0, 2e-6) << target;
      }
    }
  });
}

template <typename T, typename Dst>
void check_samples(std::size_t width, const char* target) {
  Random random(34, RandomStage::Test, width);
  std::vector<T> samples(width);
  for (T& sample : samples) sample = static_cast<T>(random.next_u32());
  const float white = std::is_same_v<Dst, float> ? 1.0F : static_cast<float>(std::numeric_limits<Dst>::max());
  const Finish finish{.gain = 1.0F / 255.0F, .scale = white};
  for (const bool is_mirrored : {false, true}) {
    std::vector<float> levels(width);
    std::vector<Dst> out(width + 1, Dst{77}), expected(width);
    finish_row(SampleRow<T>{samples, is_mirrored}, finish, std::span(out).first(width));
    mix_rows({samples, 0}, std::vector<float>{1.0F}, levels);
    if (is_mirrored) std::ranges::reverse(levels);
    finish_row(levels, finish, expected);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.begin())) << target << ", width " << width;
    ASSERT_EQ(out[width], Dst{77}) << target << ": wrote past the end";
  }
}

TEST(Kernels, finish_row_of_samples_is_that_of_their_levels) {
  on_every_target([](const char* target) {
    for (std::size_t width = 1; width < 70; ++width) {
      check_samples<std::uint8_t, float>(width, target);
      check_samples<std::uint8_t, std::uint8_t>(width, target);
      check_samples<std::uint8_t, std::uint16_t>(width, target);
      check_samples<std::uint16_t, float>(width, target);
      check_samples<std::uint16_t, std::uint8_t>(width, target);
      check_samples<std::uint16_t, std::uint16_t>(width, target);
    }
  });
}

// Fails if a build lost a target. The test machine has AVX-512, but users' machines may not.
TEST(Kernels, are_compiled_for_avx2_and_avx512) {
#if HWY_ARCH_X86
  std::int64_t compiled = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) compiled |= target;
  const std::int64_t wanted = hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3);
  EXPECT_EQ(compiled & wanted, wanted);
#endif
}

TEST(Kernels, finish_row_rounds_to_whole_levels) {
  const std::vector<float> levels{-3.0F, 0.0F, 0.49F, 0.51F, 254.6F, 255.0F, 300.0F};
  const Finish finish{.gain = 1.0F / 255.0F, .scale = 255.0F};
  std::vector<std::uint8_t> out(levels.size());
  finish_row(levels, finish, out);
  EXPECT_EQ(out, (std::vector<std::uint8_t>{0, 0, 0, 1, 255, 255, 255}));
}

}  // namespace
}  // namespace roentgen::data
