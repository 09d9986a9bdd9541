// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the moments that a forward by products sums for the following batch norm with sums in double.
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
#include "engine/cpu/conv/products/products.h"
#include "engine/cpu/plan/team_testing.h"

namespace roentgen::engine::cpu {
namespace {
using simd::ProductUnit;

struct Case {
  const char* name;
  std::int64_t in_blocks, out_blocks, height, width, side = 1, stride = 1, pad = 0;
  int threads = 2;
  /// True if the case takes too long in plain loops.
  bool is_large = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class ProductMoments : public testing::TestWithParam<std::tuple<ProductWay, Case>> {
 protected:
  static constexpr std::int64_t kImages = 3;
  enum Tensor : TensorId { kSrc, kWeights, kDst, kPivot, kPartial, kScratch };

  void SetUp() override {
    const ProductUnit unit = unit_of(way());
    if (unit == ProductUnit::Plain && c().is_large) GTEST_SKIP() << "SKIPPED: too much for plain loops";
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
    if (const std::string what = lacking(shape_); !what.empty()) GTEST_SKIP() << what;
  }

  static ProductWay way() { return std::get<0>(GetParam()); }
  static const Case& c() { return std::get<1>(GetParam()); }
  static bool is_bf16() { return stores_bf16(way()); }
  std::int64_t in_channels() const { return c().in_blocks * kProductBlock; }
  std::int64_t out_channels() const { return c().out_blocks * kProductBlock; }
  std::int64_t out_pixels() const { return shape_.out_height * shape_.out_width; }

  void draw_all() {
    const std::int64_t read = kImages * in_channels() * c().height * c().width;
    tensors_ = {};
    tensors_.draw(read, 1, shape_.dtype);
    tensors_.draw(in_channels() * out_channels() * c().side * c().side, 2, DType::F32);
    tensors_.fill(kImages * out_channels() * out_pixels(), shape_.dtype);
    tensors_.draw(out_channels(), 3, DType::F32);
    tensors_.fill(4 * out_channels() * c().threads, DType::F32);  // partial sums: two doubles per channel and thread
    tensors_.fill(0, DType::F32);
  }
  void forward(ConvTensors tensors) {
    tensors.weights = kWeights;
    tensors.dst = kDst;
    tensors.scratch = kScratch;
    const std::unique_ptr<ConvKernel> kernel = product_kernel(shape_, ConvPass::Forward, tensors);
    tensors_.run(*kernel, kScratch, kernel->scratch_bytes().total(shape_.threads));
  }
  // Sums of up to 32 numbers in f32 are added to doubles. A sum of n terms has an error below n 2^-24 of the sum of
  // their magnitudes. Subtracting the pivot and squaring add one rounding each.
  void expect_moments() const {
    const std::vector<float> stored = tensors_.floats(kDst), pivot = tensors_.floats(kPivot);
    std::vector<double> partial(tensors_.bits(kPartial).size() / sizeof(double));
    std::memcpy(partial.data(), tensors_.bits(kPartial).data(), tensors_.bits(kPartial).size());
    for (std::int64_t channel = 0; channel < out_channels(); ++channel) {
      const std::int64_t block = channel / kProductBlock, lane = channel % kProductBlock;
      double sum = 0.0, size = 0.0, sum_sq = 0.0;
      for (std::int64_t image = 0; image < kImages; ++image) {
        const std::int64_t first = (image * c().out_blocks + block) * out_pixels();
        for (std::int64_t pixel = 0; pixel < out_pixels(); ++pixel) {
          const double from_pivot =
              static_cast<double>(stored[static_cast<std::size_t>((first + pixel) * kProductBlock + lane)]) -
              static_cast<double>(pivot[static_cast<std::size_t>(channel)]);
          sum += from_pivot;
          size += std::abs(from_pivot);
          sum_sq += from_pivot * from_pivot;
        }
      }
      double got = 0.0, got_sq = 0.0;
      for (std::int64_t slot = 0; slot < c().threads; ++slot) {
        const std::int64_t at = (block * c().threads + slot) * 2 * kProductBlock + lane;
        got += partial[static_cast<std::size_t>(at)];
        got_sq += partial[static_cast<std::size_t>(at + kProductBlock)];
      }
      ASSERT_NEAR(got, sum, 33 * 0x1p-24 * size) << channel;
      ASSERT_NEAR(got_sq, sum_sq, 35 * 0x1p-24 * sum_sq) << channel;
    }
  }

  ProductShape shape_;
  DrawnTensors tensors_;
};

TEST_P(ProductMoments, of_what_is_stored) {
  draw_all();
  forward({.src = kSrc});
  const auto expected = tensors_.bits(kDst);
  tensors_.forget(kDst);
  // Runs twice, to show that no sums of the first run remain.
  forward({.src = kSrc, .epilogue = {.moments = {.partial = kPartial, .pivot = kPivot}}});
  forward({.src = kSrc, .epilogue = {.moments = {.partial = kPartial, .pivot = kPivot}}});
  EXPECT_EQ(tensors_.bits(kDst), expected);
  expect_moments();
}

// Nested in a parallel region, OpenMP grants one thread. The slots of missing threads must count as zero.
TEST_P(ProductMoments, of_a_team_of_one) {
  draw_all();
  with_one_thread([&] { forward({.src = kSrc, .epilogue = {.moments = {.partial = kPartial, .pivot = kPivot}}}); });
  expect_moments();
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<ProductWay, Case>>& info) {
  return name_of(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

// Cases cover rows between results, several panels, parts of the channels, and results written past the caches.
const auto kMoments = share_by_unit<Case>({{"pointwise", 2, 3, 5, 7},
                                           {"one_thread", 1, 2, 6, 5, 1, 1, 0, 1},
                                           {"window", 2, 1, 7, 6, 3, 1, 1},
                                           {"strided", 1, 2, 9, 8, 3, 2, 1},
                                           {"three_threads", 1, 1, 13, 11, 1, 1, 0, 3},
                                           {"parts", 70, 3, 9, 11, 1, 1, 0, 2, true},
                                           {"past_the_caches", 1, 9, 121, 126, 1, 1, 0, 2, true}},
                                          product_ways());
INSTANTIATE_TEST_SUITE_P(Ways, ProductMoments, testing::ValuesIn(kMoments.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, ProductMoments, testing::ValuesIn(kMoments.rest), name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
