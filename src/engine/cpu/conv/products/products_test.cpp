// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the three passes by bf16 products (tiles, AVX-512, plain loops) and by pointwise f32 products with sums in
// double. Cases cover windows, strides, dilations, pads, odd numbers of blocks, panels and parts of channels. Values
// are f32, split into three or two parts, or bf16. Tiles and AVX-512 are tested on machines that have them, plain loops
// everywhere.
#include "engine/cpu/conv/products/product_way_testing.h"
#include "engine/cpu/plan/product_testing.h"
#include "engine/cpu/plan/team_testing.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "core/random.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {
namespace {
using simd::ProductUnit;

struct Case {
  const char* name;
  std::int64_t images, in_blocks, out_blocks, height, width;
  std::int64_t kernel_height = 1, kernel_width = 1, stride = 1, dilation = 1, pad_top = 0, pad_left = 0;
  bool has_bias = false;
  /// True if the case takes too long in plain loops.
  bool is_large = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const std::vector<Case> kCases{
    {"pixel", 1, 1, 1, 1, 1},
    {"pixels", 2, 2, 2, 5, 7},
    {"fewer_out_than_in", 2, 3, 1, 5, 6, 1, 1, 1, 1, 0, 0, true},
    {"pad_beyond_the_window", 1, 1, 2, 4, 5, 3, 3, 2, 1, 5, 4},
    {"odd_blocks_and_biased", 3, 3, 5, 7, 7, 1, 1, 1, 1, 0, 0, true},
    {"every_other_pixel", 2, 2, 3, 7, 8, 1, 1, 2},
    {"three_by_three", 2, 2, 2, 7, 7, 3, 3, 1, 1, 1, 1},
    {"three_by_three_without_pad", 1, 1, 3, 6, 9, 3, 3},
    {"stride_two", 2, 3, 2, 8, 8, 3, 3, 2, 1, 1, 1, true},
    {"stride_two_of_an_odd_side", 2, 1, 2, 9, 7, 3, 3, 2, 1, 1, 1},
    {"stride_three", 1, 1, 1, 11, 10, 3, 3, 3, 1, 1, 0},
    {"stride_larger_than_window", 1, 1, 1, 7, 9, 2, 1, 3},
    {"dilated", 1, 2, 1, 9, 9, 3, 3, 1, 2, 2, 2},
    {"dilated_with_stride", 1, 1, 2, 11, 11, 3, 3, 2, 3, 3, 3},
    {"row_of_seven", 1, 1, 1, 5, 9, 1, 7, 1, 1, 0, 3},
    {"column_of_seven", 1, 1, 1, 9, 5, 7, 1, 1, 1, 3, 0},
    {"five_by_five", 1, 1, 2, 6, 6, 5, 5, 1, 1, 2, 2},
    {"pad_on_one_side", 1, 1, 1, 6, 6, 3, 3, 1, 1, 2, 0},
    {"panels_and_stride", 1, 1, 1, 104, 101, 3, 3, 2, 1, 1, 1},
    {"panels_of_a_side", 1, 2, 1, 53, 51},
    {"panels_and_dilation", 1, 1, 1, 50, 60, 3, 3, 1, 3, 3, 3},
    {"window_beyond_a_panel", 1, 1, 1, 3, 1100, 3, 3, 1, 1, 1, 1},
    {"groups_of_a_window", 2, 18, 20, 24, 23, 3, 3, 1, 1, 1, 1, false, true},
    {"many_panels", 3, 4, 2, 61, 57, 3, 3, 1, 1, 1, 1, false, true},
    {"parts_of_the_channels", 2, 70, 5, 9, 11, 1, 1, 1, 1, 0, 0, true, true},
    {"parts_and_stride", 1, 48, 4, 15, 15, 3, 3, 2, 1, 1, 1, false, true},
    {"groups_of_channels", 1, 19, 37, 13, 12, 1, 1, 1, 1, 0, 0, false, true},
};

std::vector<float> values(std::int64_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  std::vector<float> made(static_cast<std::size_t>(count));
  for (float& value : made) value = static_cast<float>(random.normal());
  return made;
}

// Type of values, and number of planes into which they are split. F32 in one plane means pointwise products of unsplit
// numbers.
struct Numbers {
  const char* name;
  DType dtype;
  std::int64_t planes;
};
void PrintTo(const Numbers& numbers, std::ostream* out) { *out << numbers.name; }
constexpr std::array kNumbers{Numbers{"f32", DType::F32, 3}, Numbers{"f32_in_two", DType::F32, 2},
                              Numbers{"bf16", DType::Bf16, 1}};
constexpr Numbers kWhole{"whole", DType::F32, 1};

class SplitPasses : public testing::TestWithParam<std::tuple<ProductUnit, Numbers, Case>> {
 protected:
  void SetUp() override {
    const auto& [unit, numbers, c] = GetParam();
    if (unit == ProductUnit::Plain && c.is_large) GTEST_SKIP() << "SKIPPED: too much for plain loops";
    const auto out = [&](std::int64_t length, std::int64_t kernel, std::int64_t pad) {
      return (length + 2 * pad - c.dilation * (kernel - 1) - 1) / c.stride + 1;
    };
    shape_ = {.images = c.images,
              .in_blocks = c.in_blocks,
              .out_blocks = c.out_blocks,
              .in_height = c.height,
              .in_width = c.width,
              .out_height = out(c.height, c.kernel_height, c.pad_top),
              .out_width = out(c.width, c.kernel_width, c.pad_left),
              .kernel_height = c.kernel_height,
              .kernel_width = c.kernel_width,
              .stride_y = c.stride,
              .stride_x = c.stride,
              .dilation_y = c.dilation,
              .dilation_x = c.dilation,
              .pad_top = c.pad_top,
              .pad_left = c.pad_left,
              .dtype = numbers.dtype,
              .planes = numbers.planes,
              .threads = 1,
              .unit = unit};
    if (const std::string what = lacking(shape_); !what.empty()) GTEST_SKIP() << what;
    const std::int64_t b = kProductBlock;
    src_ = values(c.images * c.in_blocks * c.height * c.width * b, 1);
    dst_ = values(c.images * c.out_blocks * shape_.out_height * shape_.out_width * b, 2);
    weights_ = values(c.in_blocks * c.out_blocks * c.kernel_height * c.kernel_width * b * b, 3);
    bias_ = values(c.out_blocks * b, 4);
    if (is_bf16()) {
      // Uses numbers that bf16 represents exactly, so that only sums and results are rounded.
      for (std::vector<float>* each : {&src_, &dst_, &weights_}) {
        for (float& value : *each) value = to_f32(to_bf16(value));
      }
    }
  }
  bool is_bf16() const { return shape_.dtype == DType::Bf16; }

  // Runs a pass. Scratch is initially NaN, so that reads of unwritten values are noticed.
  void run(std::unique_ptr<ConvKernel> kernel) {
    const runtime::AlignedBuffer scratch(kernel->scratch_bytes().total(shape_.threads));
    std::memset(scratch.data(), 0xff, scratch.size());
    const auto bytes = [](auto& of) { return reinterpret_cast<std::byte*>(of.data()); };
    if (!is_bf16()) {
      kernel->bind(Addresses({bytes(src_), bytes(weights_), bytes(bias_), bytes(dst_), scratch.data()}));
      kernel->run();
      return;
    }
    std::vector<Bf16> src = narrowed(src_), dst = narrowed(dst_);
    kernel->bind(Addresses({bytes(src), bytes(weights_), bytes(bias_), bytes(dst), scratch.data()},
                           {true, false, false, true, false}));
    kernel->run();
    for (std::size_t i = 0; i < src.size(); ++i) src_[i] = to_f32(src[i]);
    for (std::size_t i = 0; i < dst.size(); ++i) dst_[i] = to_f32(dst[i]);
  }
  static std::vector<Bf16> narrowed(const std::vector<float>& values) {
    std::vector<Bf16> made;
    for (const float value : values) made.push_back(to_bf16(value));
    return made;
  }
  ConvTensors tensors() const {
    return {.src = 0, .weights = 1, .bias = std::get<2>(GetParam()).has_bias ? 2 : -1, .dst = 3, .scratch = 4};
  }

  // Calls f(src index, weights index, dst index) for every product of the convolution.
  template <typename F>
  void for_products(const F& f) const {
    const ProductShape& s = shape_;
    const std::int64_t b = kProductBlock;
    const std::int64_t taps = s.kernel_height * s.kernel_width;
    for (std::int64_t pixel = 0; pixel < s.images * s.out_height * s.out_width; ++pixel) {
      const std::int64_t n = pixel / s.out_width / s.out_height;
      const std::int64_t y = pixel / s.out_width % s.out_height;
      const std::int64_t x = pixel % s.out_width;
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t iy = y * s.stride_y + tap / s.kernel_width * s.dilation_y - s.pad_top;
        const std::int64_t ix = x * s.stride_x + tap % s.kernel_width * s.dilation_x - s.pad_left;
        if (iy < 0 || iy >= s.in_height || ix < 0 || ix >= s.in_width) continue;
        for (std::int64_t ic = 0; ic < s.in_blocks * b; ++ic) {
          const std::int64_t from = (((n * s.in_blocks + ic / b) * s.in_height + iy) * s.in_width + ix) * b + ic % b;
          for (std::int64_t block = 0; block < s.out_blocks; ++block) {
            const std::int64_t w = ((block * s.in_blocks + ic / b) * taps + tap) * b * b + ic % b * b;
            const std::int64_t to = ((n * s.out_blocks + block) * s.out_height * s.out_width + y * s.out_width + x) * b;
            for (std::int64_t lane = 0; lane < b; ++lane) {
              f(static_cast<std::size_t>(from), static_cast<std::size_t>(w + lane),
                static_cast<std::size_t>(to + lane));
            }
          }
        }
      }
    }
  }

  // The omitted products are below 2^-24 of each product of numbers, so the error is that of f32 sums. It is a random
  // walk of at most 2^-24 per term, with six mostly small terms per product; measured values are two thirds of that.
  // With fewer than about 1000 terms, a missing product (2^-16 of each) would exceed the bound.
  // With two planes, at most 2^-17 of each number is omitted, and at most 2^-16 of a product. For numbers that are
  // uniform in a binade, that is 4e-6 in the mean square. It is up to three times as much if few numbers contribute to
  // a result, or if a ReLU removes half of them. A missing product (at most 2^-8 of each) would be a hundred times as
  // much. Results stored in bf16 have an error of at most 2^-8, less than half of that in the mean square.
  static void expect_close(const std::vector<float>& got, const std::vector<double>& expected, std::int64_t terms,
                           double rounding) {
    double error = 0.0, norm = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double difference = static_cast<double>(got[i]) - expected[i];
      error += difference * difference;
      norm += expected[i] * expected[i];
    }
    EXPECT_LE(std::sqrt(error), (rounding + 4e-8 * std::sqrt(static_cast<double>(terms))) * std::sqrt(norm));
  }
  // Relative rounding errors of a sum of products, before and after it is stored in the type of values.
  double product_rounding() const { return shape_.planes == 2 ? 1.2e-5 : 1e-7; }
  double stored_rounding() const { return is_bf16() ? 0x1p-9 : product_rounding(); }
  std::int64_t taps() const { return shape_.kernel_height * shape_.kernel_width; }

  ProductShape shape_;
  std::vector<float> src_, dst_, weights_, bias_;
};

TEST_P(SplitPasses, forward_equals_sums_in_double) {
  std::vector<double> expected(dst_.size(), 0.0);
  if (tensors().bias >= 0) {
    const auto plane = static_cast<std::size_t>(shape_.out_height * shape_.out_width * kProductBlock);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = static_cast<double>(bias_[(i / plane * kProductBlock + i % kProductBlock) % bias_.size()]);
    }
  }
  for_products([&](std::size_t s, std::size_t w, std::size_t d) {
    expected[d] += static_cast<double>(src_[s]) * static_cast<double>(weights_[w]);
  });
  const std::vector<float> before = dst_;
  run(product_kernel(shape_, ConvPass::Forward, tensors()));
  const std::int64_t terms = shape_.in_blocks * kProductBlock * taps();
  expect_close(dst_, expected, terms, stored_rounding());
  const std::vector<float> alone = dst_;
  shape_.threads = 3;
  for (const bool is_one : {false, true}) {
    SCOPED_TRACE(is_one ? "of whom one came" : "on 3 threads");
    std::ranges::fill(dst_, std::nanf(""));
    const auto again = [&] { run(product_kernel(shape_, ConvPass::Forward, tensors())); };
    is_one ? with_one_thread(again) : again();
    EXPECT_EQ(std::memcmp(alone.data(), dst_.data(), alone.size() * sizeof(float)), 0) << "the same bits";
  }

  dst_ = before;
  ConvTensors folded = tensors();
  folded.epilogue.adds = true;
  folded.epilogue.relu = true;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = std::max(0.0, expected[i] + static_cast<double>(before[i]));
  }
  run(product_kernel(shape_, ConvPass::Forward, folded));
  expect_close(dst_, expected, terms, stored_rounding());
}

TEST_P(SplitPasses, backward_data_equals_sums_in_double) {
  std::vector<double> expected(src_.size(), 0.0);
  for_products([&](std::size_t s, std::size_t w, std::size_t d) {
    expected[s] += static_cast<double>(dst_[d]) * static_cast<double>(weights_[w]);
  });
  ConvTensors used = tensors();
  used.bias = -1;
  run(product_kernel(shape_, ConvPass::BackwardData, used));
  expect_close(src_, expected, shape_.out_blocks * kProductBlock * taps(), stored_rounding());
  const std::vector<float> alone = src_;
  shape_.threads = 3;
  for (const bool is_one : {false, true}) {
    SCOPED_TRACE(is_one ? "of whom one came" : "on 3 threads");
    std::ranges::fill(src_, std::nanf(""));
    const auto again = [&] { run(product_kernel(shape_, ConvPass::BackwardData, used)); };
    is_one ? with_one_thread(again) : again();
    EXPECT_EQ(std::memcmp(alone.data(), src_.data(), alone.size() * sizeof(float)), 0) << "the same bits";
  }
}

TEST_P(SplitPasses, backward_weights_equal_sums_in_double) {
  std::vector<double> expected(weights_.size(), 0.0);
  std::vector<double> expected_bias(bias_.size(), 0.0);
  for_products([&](std::size_t s, std::size_t w, std::size_t d) {
    expected[w] += static_cast<double>(src_[s]) * static_cast<double>(dst_[d]);
  });
  const auto plane = static_cast<std::size_t>(shape_.out_height * shape_.out_width * kProductBlock);
  for (std::size_t i = 0; i < dst_.size(); ++i) {
    expected_bias[(i / plane * kProductBlock + i % kProductBlock) % bias_.size()] += static_cast<double>(dst_[i]);
  }
  for (const int threads : {1, 3, -3}) {
    SCOPED_TRACE(threads);
    shape_.threads = std::abs(threads);
    std::ranges::fill(weights_, std::nanf(""));
    const auto compute = [&] { run(product_kernel(shape_, ConvPass::BackwardWeights, tensors())); };
    // Negative `threads`: the kernel requests 3 threads and OpenMP grants one.
    threads < 0 ? with_one_thread(compute) : compute();
    expect_close(weights_, expected, shape_.images * shape_.out_height * shape_.out_width, product_rounding());
    if (tensors().bias >= 0) expect_close(bias_, expected_bias, 1, 1e-7);
  }
}

// Tests NaN in products, with any number of planes.
class SplitNan : public SplitPasses {};

TEST_P(SplitNan, reaches_all_results_of_its_pixel) {
  src_[0] = std::numeric_limits<float>::quiet_NaN();
  for (const bool relu : {false, true}) {
    SCOPED_TRACE(relu ? "through a ReLU" : "as they are");
    ConvTensors used = tensors();
    used.epilogue.relu = relu;
    std::ranges::fill(dst_, 0.0F);
    run(product_kernel(shape_, ConvPass::Forward, used));
    for (std::int64_t block = 0; block < shape_.out_blocks; ++block) {
      for (std::int64_t lane = 0; lane < kProductBlock; ++lane) {
        const std::int64_t at = block * shape_.out_height * shape_.out_width * kProductBlock + lane;
        EXPECT_TRUE(std::isnan(dst_[static_cast<std::size_t>(at)])) << block << " " << lane;
      }
    }
  }
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<ProductUnit, Numbers, Case>>& chosen) {
  return std::string(simd::name_of(std::get<0>(chosen.param))) + "_" + std::get<1>(chosen.param).name + "_" +
         std::get<2>(chosen.param).name;
}

SharedCases<SplitPasses::ParamType> share_units(const std::vector<Case>& cases) {
  std::vector<std::vector<SplitPasses::ParamType>> by_unit;
  for (const Numbers& numbers : kNumbers) {
    for (const Case& tested : cases) {
      by_unit.push_back({{ProductUnit::Plain, numbers, tested},
                         {ProductUnit::Amx, numbers, tested},
                         {ProductUnit::Avx512, numbers, tested}});
    }
  }
  return share_out<SplitPasses::ParamType>(by_unit, [](const SplitPasses::ParamType& param) {
    const ProductUnit unit = std::get<0>(param);
    return simd::has_unit(unit) && (unit != ProductUnit::Plain || !std::get<2>(param).is_large);
  });
}

const auto kNan = share_units({kCases[1]});
INSTANTIATE_TEST_SUITE_P(Units, SplitNan, testing::ValuesIn(kNan.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, SplitNan, testing::ValuesIn(kNan.rest), name_of_test);
const auto kPasses = share_units(kCases);
INSTANTIATE_TEST_SUITE_P(Units, SplitPasses, testing::ValuesIn(kPasses.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, SplitPasses, testing::ValuesIn(kPasses.rest), name_of_test);

// The cases with a 1x1 window and no stride.
const std::vector<Case> kPointwiseCases = [] {
  std::vector<Case> made;
  for (const Case& c : kCases) {
    if (c.kernel_height * c.kernel_width * c.stride == 1 && c.pad_top + c.pad_left == 0) made.push_back(c);
  }
  return made;
}();
INSTANTIATE_TEST_SUITE_P(Pointwise, SplitNan,
                         testing::Combine(testing::Values(ProductUnit::Avx512F32), testing::Values(kWhole),
                                          testing::Values(kPointwiseCases[0])),
                         name_of_test);
INSTANTIATE_TEST_SUITE_P(Pointwise, SplitPasses,
                         testing::Combine(testing::Values(ProductUnit::Avx512F32), testing::Values(kWhole),
                                          testing::ValuesIn(kPointwiseCases)),
                         name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
