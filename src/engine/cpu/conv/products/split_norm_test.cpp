// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What the forward by split products does for the batch norms around it: moments of what it stores, against sums in
// double; and the residual sum of a batch norm that it makes while it reads it, to the bits of one that is stored
// first.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cpu/conv/drawn_tensors_testing.h"
#include "engine/cpu/conv/products/product_way_testing.h"
#include "engine/cpu/conv/products/split_conv.h"
#include "engine/cpu/plan/team_testing.h"

namespace roentgen::engine::cpu {
namespace {
using simd::TileUnit;

struct Case {
  const char* name;
  std::int64_t in_blocks, out_blocks, height, width, side = 1, stride = 1, pad = 0;
  int threads = 2;
  /// Too much for plain loops.
  bool is_large = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class SplitNorms : public testing::TestWithParam<std::tuple<ProductWay, Case>> {
 protected:
  static constexpr std::int64_t kImages = 3;
  enum Tensor : TensorId {
    kSrc,
    kWeights,
    kDst,
    kPivot,
    kPartial,
    kConstants,
    kResidual,
    kResidualConstants,
    kResult,
    kScratch
  };

  void SetUp() override {
    const TileUnit unit = unit_of(way());
    if (unit == TileUnit::Plain && way() != ProductWay::Pointwise && c().is_large)
      GTEST_SKIP() << "SKIPPED: too much for plain loops";
    shape_ = {.images = kImages,
              .in_blocks = c().in_blocks,
              .out_blocks = c().out_blocks,
              .in_height = c().height,
              .in_width = c().width,
              .out_height = (c().height + 2 * c().pad - c().side) / c().stride + 1,
              .out_width = (c().width + 2 * c().pad - c().side) / c().stride + 1,
              .kernel_height = c().side,
              .kernel_width = c().side,
              .stride_y = c().stride,
              .stride_x = c().stride,
              .pad_top = c().pad,
              .pad_left = c().pad,
              .dtype = is_bf16() ? DType::Bf16 : DType::F32,
              .threads = c().threads,
              .unit = unit};
    if (const std::string what = lacking(way(), shape_); !what.empty()) GTEST_SKIP() << what;
  }

  static ProductWay way() { return std::get<0>(GetParam()); }
  static const Case& c() { return std::get<1>(GetParam()); }
  static bool is_bf16() { return stores_bf16(way()); }
  std::int64_t in_channels() const { return c().in_blocks * kSplitBlock; }
  std::int64_t out_channels() const { return c().out_blocks * kSplitBlock; }
  std::int64_t out_pixels() const { return shape_.out_height * shape_.out_width; }

  void draw_all() {
    const std::int64_t read = kImages * in_channels() * c().height * c().width;
    tensors_ = {};
    tensors_.draw(read, 1, shape_.dtype);
    tensors_.draw(in_channels() * out_channels() * c().side * c().side, 2, DType::F32);
    tensors_.fill(kImages * out_channels() * out_pixels(), shape_.dtype);
    tensors_.draw(out_channels(), 3, DType::F32);
    tensors_.fill(4 * out_channels() * c().threads, DType::F32);  // doubles: two a channel and slot
    tensors_.draw(2 * in_channels(), 4, DType::F32);
    tensors_.draw(read, 5, shape_.dtype);
    tensors_.draw(2 * in_channels(), 6, DType::F32);
    tensors_.fill(read, shape_.dtype);
    tensors_.fill(0, DType::F32);
  }
  void forward(ConvTensors tensors) {
    tensors.weights = kWeights;
    tensors.dst = kDst;
    tensors.scratch = kScratch;
    const std::size_t scratch = product_forward_scratch(way(), shape_, tensors.input);
    tensors_.run(*product_forward(way(), shape_, tensors), kScratch, scratch);
  }
  // f32 sums of up to 32 numbers, which then go into doubles: of n terms each is off by less than n 2^-24 of the sum of
  // their sizes, with one more for the pivot that was taken away and one for the square.
  void expect_moments() const {
    const std::vector<float> stored = tensors_.floats(kDst), pivot = tensors_.floats(kPivot);
    std::vector<double> partial(tensors_.bits(kPartial).size() / sizeof(double));
    std::memcpy(partial.data(), tensors_.bits(kPartial).data(), tensors_.bits(kPartial).size());
    for (std::int64_t channel = 0; channel < out_channels(); ++channel) {
      const std::int64_t block = channel / kSplitBlock, lane = channel % kSplitBlock;
      double sum = 0.0, size = 0.0, sum_sq = 0.0;
      for (std::int64_t image = 0; image < kImages; ++image) {
        const std::int64_t first = (image * c().out_blocks + block) * out_pixels();
        for (std::int64_t pixel = 0; pixel < out_pixels(); ++pixel) {
          const double from_pivot =
              static_cast<double>(stored[static_cast<std::size_t>((first + pixel) * kSplitBlock + lane)]) -
              static_cast<double>(pivot[static_cast<std::size_t>(channel)]);
          sum += from_pivot;
          size += std::abs(from_pivot);
          sum_sq += from_pivot * from_pivot;
        }
      }
      double got = 0.0, got_sq = 0.0;
      for (std::int64_t slot = 0; slot < c().threads; ++slot) {
        const std::int64_t at = (block * c().threads + slot) * 2 * kSplitBlock + lane;
        got += partial[static_cast<std::size_t>(at)];
        got_sq += partial[static_cast<std::size_t>(at + kSplitBlock)];
      }
      ASSERT_NEAR(got, sum, 33 * 0x1p-24 * size) << channel;
      ASSERT_NEAR(got_sq, sum_sq, 35 * 0x1p-24 * sum_sq) << channel;
    }
  }

  SplitShape shape_;
  DrawnTensors tensors_;
};

class SplitMoments : public SplitNorms {};

TEST_P(SplitMoments, of_what_is_stored) {
  draw_all();
  forward({.src = kSrc});
  const auto expected = tensors_.bits(kDst);
  tensors_.forget(kDst);
  // Twice: nothing is left of the first time.
  forward({.src = kSrc, .moments = {.partial = kPartial, .pivot = kPivot}});
  forward({.src = kSrc, .moments = {.partial = kPartial, .pivot = kPivot}});
  EXPECT_EQ(tensors_.bits(kDst), expected);
  expect_moments();
}

// As OpenMP gives within a parallel region: slots of threads that are not there count, too.
TEST_P(SplitMoments, of_a_team_of_one) {
  draw_all();
  with_one_thread([&] { forward({.src = kSrc, .moments = {.partial = kPartial, .pivot = kPivot}}); });
  expect_moments();
}

class SplitResidualSums : public SplitNorms {
 protected:
  // What the batch norm would have stored, rounded as values are, in `kResult`.
  std::vector<float> expected_sum(bool is_residual_normalised, bool relu) const {
    const std::vector<float> x = tensors_.floats(kSrc), residual = tensors_.floats(kResidual);
    const std::vector<float> by = tensors_.floats(kConstants), by_residual = tensors_.floats(kResidualConstants);
    std::vector<float> made(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto plane = static_cast<std::size_t>(c().height * c().width * kSplitBlock);
      const auto blocks = static_cast<std::size_t>(c().in_blocks);
      const std::size_t channel = i / plane % blocks * kSplitBlock + i % kSplitBlock;
      const std::size_t shift = channel + static_cast<std::size_t>(in_channels());
      const float other =
          is_residual_normalised ? std::fma(residual[i], by_residual[channel], by_residual[shift]) : residual[i];
      const float sum = std::fma(x[i], by[channel], by[shift]) + other;
      made[i] = relu ? std::max(0.0F, sum) : sum;
    }
    return made;
  }
  NormalisedInput input(bool is_residual_normalised, bool relu, TensorId result) const {
    return {.pieces = {{.value = kSrc, .blocks = c().in_blocks}},
            .constants = kConstants,
            .relu = relu,
            .residual = NormalisedInput::Residual{
                .value = kResidual, .constants = is_residual_normalised ? kResidualConstants : -1, .result = result}};
  }
};

TEST_P(SplitResidualSums, have_the_bits_of_stored_ones) {
  for (const bool is_normalised : {false, true}) {
    for (const bool relu : {false, true}) {
      for (const TensorId result : {kResult, kResidual}) {
        if (c().is_large && relu == is_normalised) continue;  // two of the four are enough
        SCOPED_TRACE(testing::Message() << "normalised " << is_normalised << " relu " << relu << " to " << result);
        draw_all();
        const std::vector<float> sum = expected_sum(is_normalised, relu);
        forward({.input = input(is_normalised, relu, result), .moments = {.partial = kPartial, .pivot = kPivot}});
        const auto read = tensors_.bits(kDst), made = tensors_.bits(static_cast<std::size_t>(result));
        DrawnTensors stored;
        stored.add(sum, shape_.dtype);
        EXPECT_EQ(made, stored.bits(0));
        expect_moments();
        tensors_.forget(kDst);
        forward({.src = result});
        EXPECT_EQ(read, tensors_.bits(kDst));
      }
    }
  }
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<ProductWay, Case>>& info) {
  return name_of(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

// Rows between results, panels, parts of the channels, results past the caches.
const auto kMoments = share_by_unit<Case>({{"pointwise", 2, 3, 5, 7},
                                           {"one_thread", 1, 2, 6, 5, 1, 1, 0, 1},
                                           {"window", 2, 1, 7, 6, 3, 1, 1},
                                           {"strided", 1, 2, 9, 8, 3, 2, 1},
                                           {"three_threads", 1, 1, 13, 11, 1, 1, 0, 3},
                                           {"parts", 70, 3, 9, 11, 1, 1, 0, 2, true},
                                           {"past_the_caches", 1, 9, 121, 126, 1, 1, 0, 2, true}},
                                          product_ways());
INSTANTIATE_TEST_SUITE_P(Ways, SplitMoments, testing::ValuesIn(kMoments.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, SplitMoments, testing::ValuesIn(kMoments.rest), name_of_test);

const auto kResidualSums = share_by_unit<Case>({{"pointwise", 2, 3, 5, 7},
                                                {"odd_blocks", 3, 1, 6, 5},
                                                {"panels", 2, 1, 61, 57, 1, 1, 0, 2, true},
                                                {"parts", 71, 3, 9, 11, 1, 1, 0, 2, true},
                                                {"past_the_caches", 9, 1, 121, 126, 1, 1, 0, 2, true}},
                                               product_ways());
INSTANTIATE_TEST_SUITE_P(Ways, SplitResidualSums, testing::ValuesIn(kResidualSums.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, SplitResidualSums, testing::ValuesIn(kResidualSums.rest), name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
