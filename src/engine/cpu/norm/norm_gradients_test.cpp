// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The backward of a batch norm with a residual between convolutions: done by the data gradient of the one behind it and
// by the gradients of the one before it, beside the batch norm's own kernel with everything stored.
#include "engine/cpu/norm/norm_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/random.h"
#include "engine/cpu/conv/drawn_tensors_testing.h"
#include "engine/cpu/conv/products/product_way_testing.h"
#include "engine/cpu/conv/products/split_conv.h"

namespace roentgen::engine::cpu {
namespace {
using simd::TileUnit;

struct Case {
  const char* name;
  std::int64_t blocks, out_blocks, height, width, side = 1, pad = 0;
  int threads = 2;
  bool relu = true;
  bool has_other = true;    // a second gradient comes to the result
  bool is_missing = false;  // the result was dropped: from the residual, and stored again
  // The convolution before the batch norm.
  std::int64_t blocks_before = 2, side_before = 1, pad_before = 0, stride_before = 1, planes = 2;
  std::int64_t unread_before = 0;  // last rows and columns that no window reads
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const std::vector<Case> kCases{
    {"pixels", 2, 3, 4, 8},
    {"images_that_end_within_tiles", 3, 1, 6, 5},
    {"smaller_than_a_tile", 1, 2, 1, 3},
    {"one_block_of_many_images", 1, 1, 9, 7, 1, 0, 3},
    {"without_relu", 2, 2, 5, 6, 1, 0, 2, false},
    {"the_only_gradient", 2, 2, 7, 7, 1, 0, 1, true, false},
    {"a_result_to_write_again", 3, 2, 7, 6, 1, 0, 2, true, true, true},
    {"a_result_to_write_again_without_relu", 1, 2, 7, 6, 1, 0, 2, false, true, true},
    {"fewer_channels_than_before", 2, 1, 6, 7, 1, 0, 2, true, true, false, 5},
    {"window_before", 2, 2, 7, 6, 1, 0, 2, true, true, false, 3, 3, 1},
    {"stride_before", 2, 2, 6, 5, 1, 0, 2, true, true, false, 1, 3, 1, 2},
    {.name = "strided_pixels_before",
     .blocks = 2,
     .out_blocks = 2,
     .height = 6,
     .width = 5,
     .blocks_before = 1,
     .stride_before = 2,
     .unread_before = 1},
    {.name = "strided_pixels_of_more_channels_before",
     .blocks = 1,
     .out_blocks = 2,
     .height = 7,
     .width = 7,
     .blocks_before = 4,
     .stride_before = 2,
     .unread_before = 1},
    {"in_three_planes", 3, 2, 9, 6, 1, 0, 2, true, true, false, 2, 3, 1, 1, 3},
    {"window", 2, 2, 7, 7, 3, 1},
    {"window_without_pad", 1, 2, 9, 8, 3, 0, 3},
    {"window_beside_pad", 2, 1, 5, 6, 3, 2, 2, true, false, true},
    {"many_panels", 2, 2, 40, 41, 1, 0, 2},
    {"parts_of_the_channels", 2, 50, 18, 19},
};

class NormGradientsOfConv : public testing::TestWithParam<std::tuple<ProductWay, Case>> {
 protected:
  static constexpr std::int64_t kImages = 3, kBlock = kSplitBlock;
  enum Tensor : TensorId {
    kDst,
    kWeights,
    kDy,
    kValue,
    kStatistics,
    kScale,
    kShift,
    kOther,
    kResult,
    kResidual,
    kG,
    kDx,
    kAgain,
    kDiffScale,
    kDiffShift,
    kConstants,
    kPartial,
    kBefore,
    kWeightsBefore,
    kScratch
  };

  void SetUp() override {
    const TileUnit unit = unit_of(way());
    shape_ = {.images = kImages,
              .in_blocks = c().blocks,
              .out_blocks = c().out_blocks,
              .in_height = c().height,
              .in_width = c().width,
              .out_height = c().height + 2 * c().pad - c().side + 1,
              .out_width = c().width + 2 * c().pad - c().side + 1,
              .kernel_height = c().side,
              .kernel_width = c().side,
              .pad_top = c().pad,
              .pad_left = c().pad,
              .dtype = is_bf16() ? DType::Bf16 : DType::F32,
              .planes = c().planes,
              .threads = c().threads,
              .unit = unit};
    if (const std::string what = lacking(way(), shape_); !what.empty()) GTEST_SKIP() << what;
  }

  static ProductWay way() { return std::get<0>(GetParam()); }
  static const Case& c() { return std::get<1>(GetParam()); }
  static bool is_bf16() { return stores_bf16(way()); }
  static std::int64_t pixels() { return c().height * c().width; }

  void draw_all() {
    const std::int64_t channels = c().blocks * kBlock, taps = c().side * c().side;
    const std::int64_t values = kImages * channels * pixels();
    tensors_ = {};
    tensors_.draw(kImages * c().out_blocks * shape_.out_height * shape_.out_width * kBlock, 1, shape_.dtype);
    tensors_.draw(channels * c().out_blocks * kBlock * taps, 2, DType::F32);
    tensors_.fill(values, shape_.dtype);
    tensors_.draw(values, 3, shape_.dtype);
    tensors_.add(statistics(channels), DType::F32);
    tensors_.draw(channels, 5, DType::F32);
    tensors_.draw(channels, 6, DType::F32);
    tensors_.draw(values, 7, shape_.dtype);
    tensors_.draw(values, 8, shape_.dtype);
    tensors_.draw(values, 9, shape_.dtype);
    for (int i = 0; i < 3; ++i) tensors_.fill(values, shape_.dtype);  // g, dx, the result again
    for (int i = 0; i < 2; ++i) tensors_.fill(channels, DType::F32);
    tensors_.fill(5 * channels, DType::F32);
    tensors_.fill(4 * channels * std::max<std::int64_t>(kImages, c().threads),
                  DType::F32);  // doubles: two a channel and slot
    const SplitShape at = before();
    tensors_.draw(kImages * at.in_blocks * kBlock * at.in_height * at.in_width, 10, shape_.dtype);
    tensors_.draw(at.in_blocks * kBlock * channels * at.kernel_height * at.kernel_width, 11, DType::F32);
    tensors_.fill(0, DType::F32);
  }

  FusedNormBackward norm(bool is_one) const {
    return {.shape = {.images = kImages,
                      .blocks = c().blocks,
                      .pixels = pixels(),
                      .block = static_cast<int>(kBlock),
                      .value_dtype = shape_.dtype,
                      .result_dtype = shape_.dtype,
                      .threads = c().threads},
            .work = {.pieces = {{.value = kValue, .blocks = c().blocks, .statistics = kStatistics}},
                     .parameters = {.scale = kScale, .shift = kShift},
                     .dy = is_one ? -1 : TensorId{kDy},
                     .dy2 = c().has_other ? TensorId{kOther} : -1,
                     .y = c().relu && !c().is_missing ? TensorId{kResult} : -1,
                     .residual = c().is_missing ? TensorId{kResidual} : -1,
                     .g = kG,
                     .dx = is_one ? -1 : TensorId{kDx},
                     .y_again = c().is_missing ? TensorId{kAgain} : -1,
                     .diff_scale = kDiffScale,
                     .diff_shift = kDiffShift,
                     .constants = kConstants,
                     .partial = kPartial,
                     .relu = c().relu}};
  }
  void run(const std::unique_ptr<Kernel>& kernel, std::size_t scratch_bytes) {
    tensors_.run(*kernel, kScratch, scratch_bytes);
  }
  // With one kernel, or with two and dy stored between them.
  void backward(bool is_one) {
    draw_all();
    const FusedNormBackward gradient = norm(is_one);
    ConvTensors tensors{.src = is_one ? -1 : TensorId{kDy}, .weights = kWeights, .dst = kDst, .scratch = kScratch};
    if (is_one) tensors.norm = gradient;
    run(product_backward_data(way(), shape_, tensors), product_backward_data_scratch(way(), shape_));
    if (!is_one) run(single_backward_kernel(gradient.shape, gradient.work), 0);
  }
  // The convolution before the batch norm.
  SplitShape before() const {
    SplitShape shape = shape_;
    shape.in_blocks = c().blocks_before;
    shape.out_blocks = c().blocks;
    shape.kernel_height = shape.kernel_width = c().side_before;
    shape.pad_top = shape.pad_left = c().pad_before;
    shape.stride_y = shape.stride_x = c().stride_before;
    shape.out_height = c().height;
    shape.out_width = c().width;
    shape.in_height = (c().height - 1) * c().stride_before + c().side_before - 2 * c().pad_before + c().unread_before;
    shape.in_width = (c().width - 1) * c().stride_before + c().side_before - 2 * c().pad_before + c().unread_before;
    return shape;
  }
  // Mean, variance and 1/sd as those of values that were drawn.
  static std::vector<float> statistics(std::int64_t channels) {
    Random random(4, RandomStage::Test);
    std::vector<float> made(static_cast<std::size_t>(3 * channels));
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto near = static_cast<float>(0.1 * random.normal());
      made[i] = i < static_cast<std::size_t>(channels) ? near : 1.0F + near;
    }
    return made;
  }

  // Sums of absolute terms of a channel: of g, and of g * (x - mean).
  struct Terms {
    double g = 0.0, g_x = 0.0;
  };
  std::vector<Terms> terms() const {
    const std::vector<float> g = tensors_.floats(kG), x = tensors_.floats(kValue), from = tensors_.floats(kStatistics);
    std::vector<Terms> made(static_cast<std::size_t>(c().blocks * kBlock));
    for (std::size_t i = 0; i < g.size(); ++i) {
      const std::size_t block = i / static_cast<std::size_t>(pixels() * kBlock) % static_cast<std::size_t>(c().blocks);
      const std::size_t channel = block * kBlock + i % kBlock;
      made[channel].g += std::abs(static_cast<double>(g[i]));
      made[channel].g_x += std::abs(static_cast<double>(g[i]) * (static_cast<double>(x[i]) - from[channel]));
    }
    return made;
  }

  SplitShape shape_;
  DrawnTensors tensors_;
};

TEST_P(NormGradientsOfConv, are_those_of_the_norms_own_backward) {
  backward(false);
  const DrawnTensors two = std::exchange(tensors_, {});
  backward(true);
  EXPECT_EQ(tensors_.bits(kG), two.bits(kG)) << "the masked gradient, pixel by pixel";
  EXPECT_EQ(tensors_.bits(kAgain), two.bits(kAgain));
  // Both add up the same terms, in f32 chains of at most 64 that begin elsewhere and then in double: each is off by 64
  // roundings of 2^-24 of all that is added up, at most; g is rounded to bf16 where it is stored (1%, generously). What
  // is made of the sums is rounded to f32 once more.
  constexpr double kSum = 2 * 64 * 0x1p-24 * 1.01, kStored = 0x1p-23;
  const auto near = [&](Tensor tensor, std::size_t at, double bound) {
    const double wanted = two.floats(tensor)[at];
    ASSERT_NEAR(tensors_.floats(tensor)[at], wanted, bound + kStored * std::abs(wanted)) << tensor << " " << at;
  };
  const std::vector<Terms> of_channel = terms();
  const std::size_t channels = of_channel.size();
  const std::vector<float> from = two.floats(kStatistics), scale = two.floats(kScale);
  const auto count = static_cast<double>(kImages * pixels());
  for (std::size_t i = 0; i < channels; ++i) {
    const double istd = from[2 * channels + i], factor = std::abs(scale[i] * istd) / count;
    near(kDiffShift, i, kSum * of_channel[i].g);
    near(kDiffScale, i, kSum * of_channel[i].g_x * istd);
    for (std::size_t exact = 0; exact < 3; ++exact) near(kConstants, exact * channels + i, 0.0);
    const double by_x = kSum * factor * istd * istd * of_channel[i].g_x;
    near(kConstants, 3 * channels + i, by_x);
    near(kConstants, 4 * channels + i, kSum * factor * of_channel[i].g + by_x * std::abs(from[i]));
  }
}

TEST_P(NormGradientsOfConv, are_the_same_bits_every_time) {
  backward(true);
  const DrawnTensors first = std::exchange(tensors_, {});
  backward(true);
  for (const Tensor each : {kG, kDiffScale, kDiffShift, kConstants}) EXPECT_EQ(tensors_.bits(each), first.bits(each));
}

TEST_P(NormGradientsOfConv, are_read_through_the_norm_with_the_bits_of_stored_ones) {
  for (const bool is_of_weights : {false, true}) {
    SCOPED_TRACE(is_of_weights);
    backward(false);
    const SplitShape shape = before();
    if (const std::string what = lacking(way(), shape); !what.empty()) GTEST_SKIP() << what;
    const auto compute = [&](const ConvTensors& tensors) {
      const auto made = static_cast<std::size_t>(is_of_weights ? tensors.weights : tensors.src);
      if (is_of_weights) {
        run(product_backward_weights(way(), shape, tensors), product_backward_weights_scratch(way(), shape));
      } else {
        run(product_backward_data(way(), shape, tensors), product_backward_data_scratch(way(), shape));
      }
      const std::vector<std::byte> bits = tensors_.bits(made);
      tensors_.forget(made);
      return bits;
    };
    ConvTensors tensors{.src = kBefore, .weights = kWeightsBefore, .dst = kDx, .scratch = kScratch};
    const auto stored = compute(tensors);
    tensors.dst = kG;
    tensors.gradient = {.value = kValue, .constants = kConstants};
    EXPECT_EQ(compute(tensors), stored);
  }
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<ProductWay, Case>>& info) {
  return name_of(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

const auto kShared = share_by_unit(kCases, product_ways());
INSTANTIATE_TEST_SUITE_P(Ways, NormGradientsOfConv, testing::ValuesIn(kShared.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, NormGradientsOfConv, testing::ValuesIn(kShared.rest), name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
