// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the vector loops of max pooling with plain ones, bit for bit. Windows overlap, leave gaps and extend beyond
// the plane; values have ties, NaN and infinities. Every block size is tested, with AVX-512 and AVX2.
#include "engine/cpu/simd/max_pool.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/random.h"

namespace roentgen::engine::cpu::simd {
namespace {

struct Case {
  const char* name;
  PoolExtent extent;
};

const std::vector<Case> kCases{
    {"stem", {11, 9, 6, 5, 3, 3, 2, 2, 1, 1, 16}},       {"halving", {8, 6, 4, 3, 2, 2, 2, 2, 0, 0, 16}},
    {"overlapping", {5, 7, 5, 7, 3, 3, 1, 1, 1, 1, 8}},  {"beyond_the_end", {6, 7, 3, 4, 3, 3, 2, 2, 0, 0, 4}},
    {"gaps", {7, 8, 3, 3, 2, 1, 3, 3, 0, 0, 16}},        {"wide", {4, 9, 4, 5, 1, 5, 1, 2, 0, 2, 8}},
    {"largest", {16, 17, 1, 2, 16, 16, 1, 1, 0, 0, 16}}, {"one_pixel", {1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 16}},
};

float as_f32(float value) { return value; }
float as_f32(Bf16 value) { return to_f32(value); }
template <class T>
T stored(float value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return to_bf16(value);
  } else {
    return value;
  }
}

class MaxPoolLoops : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if ((hwy::SupportedTargets() & GetParam()) == 0) {
      GTEST_SKIP() << "SKIPPED: this machine has no " << hwy::TargetName(GetParam());
    }
    hwy::SetSupportedTargetsForTest(GetParam());
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  // Draws from few different numbers, so that most windows have several maxima. One in 40 is NaN, one in 40 infinite.
  template <class T>
  static std::vector<T> drawn(std::int64_t count, std::uint64_t seed, bool has_all) {
    Random random(seed, RandomStage::Test);
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) {
      auto value = static_cast<float>(random.below(5)) - 2.0F;
      if (has_all && random.chance(0.025)) value = std::nanf("");
      if (has_all && random.chance(0.025)) value = -std::numeric_limits<float>::infinity();
      values.push_back(stored<T>(value));
    }
    return values;
  }

  struct Found {
    float value = 0.0F;
    int position = 0;
  };
  template <class T>
  static Found maximum(const PoolExtent& e, const MaxPool<T>& work, std::int64_t row, std::int64_t column, int lane) {
    Found found{-std::numeric_limits<float>::infinity(), -1};
    for (std::int64_t ky = 0; ky < e.kernel_height; ++ky) {
      for (std::int64_t kx = 0; kx < e.kernel_width; ++kx) {
        const std::int64_t y = row * e.stride_y - e.pad_top + ky, x = column * e.stride_x - e.pad_left + kx;
        if (y < 0 || y >= e.in_height || x < 0 || x >= e.in_width) continue;
        float value = as_f32(work.src[(y * e.in_width + x) * e.block + lane]);
        if (work.scale != nullptr) value = std::fma(value, work.scale[lane], work.shift[lane]);
        if (work.scale != nullptr && work.relu && value < 0.0F) value = 0.0F;
        const auto position = static_cast<int>(ky * e.kernel_width + kx);
        if (found.position < 0) found.position = position;
        if (value > found.value || std::isnan(value)) found = {value, position};
      }
    }
    return found;
  }

  template <class T>
  static void expect_maxima(const Case& c, bool is_normalised, bool relu) {
    SCOPED_TRACE(testing::Message() << c.name << " normalised " << is_normalised << " relu " << relu);
    const PoolExtent& e = c.extent;
    const auto src = drawn<T>(e.in_height * e.in_width * e.block, 1, true);
    const auto scale = drawn<float>(e.block, 2, false), shift = drawn<float>(e.block, 3, false);
    std::vector<T> dst(static_cast<std::size_t>(e.out_height * e.out_width * e.block));
    std::vector<std::uint8_t> position(dst.size(), 255);
    const MaxPool<T> work{.src = src.data(),
                          .dst = dst.data(),
                          .position = position.data(),
                          .scale = is_normalised ? scale.data() : nullptr,
                          .shift = is_normalised ? shift.data() : nullptr,
                          .relu = relu};
    // Runs the rows in two parts, as two threads would.
    max_pool(e, work, 0, e.out_height / 2);
    max_pool(e, work, e.out_height / 2, e.out_height);
    for (std::size_t i = 0; i < dst.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i) / e.block;
      const Found found = maximum(e, work, at / e.out_width, at % e.out_width, static_cast<int>(i % e.block));
      ASSERT_EQ(position[i], found.position) << i;
      const float got = as_f32(dst[i]), expected = as_f32(stored<T>(found.value));
      ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected))) << i << ": " << got << ", " << expected;
    }
    const std::vector<T> with_positions = dst;
    MaxPool<T> without = work;
    without.position = nullptr;
    std::ranges::fill(dst, stored<T>(0.0F));
    max_pool(e, without, 0, e.out_height);
    for (std::size_t i = 0; i < dst.size(); ++i) {
      const float got = as_f32(dst[i]), expected = as_f32(with_positions[i]);
      ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected))) << i << ": " << got << ", " << expected;
    }
  }

  // Windows add their gradients one after another, in row-major order, which is the order of the sums.
  template <class T>
  static void expect_gradients(const Case& c) {
    SCOPED_TRACE(c.name);
    const PoolExtent& e = c.extent;
    const auto src = drawn<T>(e.in_height * e.in_width * e.block, 4, true);
    std::vector<T> dst(static_cast<std::size_t>(e.out_height * e.out_width * e.block));
    std::vector<std::uint8_t> position(dst.size());
    max_pool(e, MaxPool<T>{.src = src.data(), .dst = dst.data(), .position = position.data()}, 0, e.out_height);
    Random random(5, RandomStage::Test);
    for (T& gradient : dst) gradient = stored<T>(static_cast<float>(random.normal()));
    std::vector<float> expected(src.size());
    for (std::size_t i = 0; i < dst.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i) / e.block;
      const std::int64_t y = at / e.out_width * e.stride_y - e.pad_top + position[i] / e.kernel_width;
      const std::int64_t x = at % e.out_width * e.stride_x - e.pad_left + position[i] % e.kernel_width;
      ASSERT_TRUE(y >= 0 && y < e.in_height && x >= 0 && x < e.in_width) << i;
      expected[static_cast<std::size_t>((y * e.in_width + x) * e.block) + i % static_cast<std::size_t>(e.block)] +=
          as_f32(dst[i]);
    }
    std::vector<T> made(src.size(), stored<T>(std::nanf("")));
    for (std::int64_t row = 0; row < e.in_height; ++row) {
      max_pool_gradient(
          e, MaxPoolGradient<T>{.diff_dst = dst.data(), .position = position.data(), .diff_src = made.data()}, row);
    }
    for (std::size_t i = 0; i < made.size(); ++i) ASSERT_EQ(as_f32(made[i]), as_f32(stored<T>(expected[i]))) << i;
  }
};

TEST_P(MaxPoolLoops, first_maximum_of_each_window) {
  for (const Case& c : kCases) {
    for (const auto& [is_normalised, relu] : {std::pair{false, false}, std::pair{true, false}, std::pair{true, true}}) {
      expect_maxima<float>(c, is_normalised, relu);
      expect_maxima<Bf16>(c, is_normalised, relu);
    }
  }
}

TEST_P(MaxPoolLoops, gradient_goes_to_the_maximum) {
  for (const Case& c : kCases) {
    expect_gradients<float>(c);
    expect_gradients<Bf16>(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MaxPoolLoops, testing::Values(HWY_AVX3, HWY_AVX2),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

}  // namespace
}  // namespace roentgen::engine::cpu::simd
