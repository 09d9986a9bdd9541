// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The backward of a batch norm with a residual between convolutions: done by the data gradient of the one behind it and
// by the gradients of the one before it, beside the batch norm's own kernel with everything stored.
#include "engine/cpu/norm_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cpu/drawn_tensors_testing.h"
#include "engine/cpu/split_conv.h"

namespace roentgen::engine::cpu {
namespace {
using simd::TileUnit;

enum class Way { PlainF32, TilesF32, PlainBf16, TilesBf16 };

struct Case {
  const char* name;
  std::int64_t blocks, out_blocks, height, width, side = 1, pad = 0;
  int threads = 2;
  bool relu = true;
  bool has_other = true;    // a second gradient comes to the result
  bool is_missing = false;  // the result was dropped: from the residual, and stored again
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
    {"window", 2, 2, 7, 7, 3, 1},
    {"window_without_pad", 1, 2, 9, 8, 3, 0, 3},
    {"window_beside_pad", 2, 1, 5, 6, 3, 2, 2, true, false, true},
    {"many_panels", 2, 2, 40, 41, 1, 0, 2},
    {"parts_of_the_channels", 2, 50, 18, 19},
};

class NormGradientsOfConv : public testing::TestWithParam<std::tuple<Way, Case>> {
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
    const bool is_on_tiles = way() == Way::TilesF32 || way() == Way::TilesBf16;
    if (is_on_tiles && !simd::has_tiles()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 tiles (AMX)";
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
              .planes = 2,
              .threads = c().threads,
              .unit = is_on_tiles ? TileUnit::Amx : TileUnit::Plain};
  }

  static Way way() { return std::get<0>(GetParam()); }
  static const Case& c() { return std::get<1>(GetParam()); }
  static bool is_bf16() { return way() == Way::PlainBf16 || way() == Way::TilesBf16; }
  static std::int64_t pixels() { return c().height * c().width; }

  void draw_all() {
    const std::int64_t channels = c().blocks * kBlock, taps = c().side * c().side;
    const std::int64_t values = kImages * channels * pixels();
    tensors_ = {};
    tensors_.draw(kImages * c().out_blocks * shape_.out_height * shape_.out_width * kBlock, 1, is_bf16());
    tensors_.draw(channels * c().out_blocks * kBlock * taps, 2, false);
    tensors_.fill(values, is_bf16());
    tensors_.draw(values, 3, is_bf16());
    tensors_.draw(3 * channels, 4, false);
    tensors_.draw(channels, 5, false);
    tensors_.draw(channels, 6, false);
    tensors_.draw(values, 7, is_bf16());
    tensors_.draw(values, 8, is_bf16());
    tensors_.draw(values, 9, is_bf16());
    for (int i = 0; i < 3; ++i) tensors_.fill(values, is_bf16());  // g, dx, the result again
    for (int i = 0; i < 2; ++i) tensors_.fill(channels, false);
    tensors_.fill(5 * channels, false);
    tensors_.fill(4 * channels * std::max<std::int64_t>(kImages, c().threads),
                  false);  // doubles: two a channel and slot
    // Another convolution before it, of its own window.
    tensors_.draw(values, 10, is_bf16());
    tensors_.draw(channels * channels, 11, false);
    tensors_.fill(0, false);
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
    run(split_backward_data(shape_, tensors), split_backward_data_scratch(shape_));
    if (!is_one) run(single_backward_kernel(gradient.shape, gradient.work), 0);
  }
  // A pointwise convolution before the batch norm.
  SplitShape before() const {
    SplitShape shape = shape_;
    shape.out_blocks = c().blocks;
    shape.kernel_height = shape.kernel_width = 1;
    shape.pad_top = shape.pad_left = 0;
    shape.out_height = shape.in_height;
    shape.out_width = shape.in_width;
    return shape;
  }

  SplitShape shape_;
  DrawnTensors tensors_;
};

// Sums of f32 chains of at most 64 pixels (2^-24 = 6e-8 a term) that begin elsewhere. A term is up to about 50: dy is a
// sum of up to 800 products of normal numbers, whose standard deviation is 28. Errors of chains add up as their root.
void expect_near(const std::vector<float>& found, const std::vector<float>& wanted, double pixels) {
  ASSERT_EQ(found.size(), wanted.size());
  const double bound = 64 * 6e-8 * std::sqrt(pixels) * 50;
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], bound + 1e-5 * std::abs(wanted[i]));
}

TEST_P(NormGradientsOfConv, are_those_of_the_norms_own_backward) {
  backward(false);
  const DrawnTensors two = tensors_;
  backward(true);
  EXPECT_EQ(tensors_.bits(kG), two.bits(kG)) << "the masked gradient, pixel by pixel";
  EXPECT_EQ(tensors_.bits(kAgain), two.bits(kAgain));
  const double all = static_cast<double>(kImages * pixels());
  for (const Tensor sums : {kDiffScale, kDiffShift}) expect_near(tensors_.floats(sums), two.floats(sums), all);
  // Scale, shift and by_g come from no sums; the others are means times factors that the statistics drawn make large.
  const std::vector<float> found = tensors_.floats(kConstants), wanted = two.floats(kConstants);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_exact = i < found.size() / 5 * 3;
    ASSERT_NEAR(found[i], wanted[i], is_exact ? 0.0 : 1e-2 + 1e-4 * std::abs(wanted[i])) << i;
  }
}

TEST_P(NormGradientsOfConv, are_the_same_bits_every_time) {
  backward(true);
  const DrawnTensors first = tensors_;
  backward(true);
  for (const Tensor each : {kG, kDiffScale, kDiffShift, kConstants}) EXPECT_EQ(tensors_.bits(each), first.bits(each));
}

TEST_P(NormGradientsOfConv, are_read_through_the_norm_with_the_bits_of_stored_ones) {
  backward(false);
  for (const bool is_of_weights : {false, true}) {
    SCOPED_TRACE(is_of_weights);
    const SplitShape shape = before();
    const auto compute = [&](const ConvTensors& tensors) {
      if (is_of_weights) {
        run(split_backward_weights(shape, tensors), split_backward_weights_scratch(shape));
      } else {
        run(split_backward_data(shape, tensors), split_backward_data_scratch(shape));
      }
      return tensors_.bits(static_cast<std::size_t>(is_of_weights ? tensors.weights : tensors.src));
    };
    ConvTensors tensors{.src = kBefore, .weights = kWeightsBefore, .dst = kDx, .scratch = kScratch};
    const auto stored = compute(tensors);
    tensors.dst = kG;
    tensors.gradient = {.value = kValue, .constants = kConstants};
    EXPECT_EQ(compute(tensors), stored);
  }
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<Way, Case>>& info) {
  constexpr std::array<const char*, 4> kNames{"plain_f32", "tiles_f32", "plain_bf16", "tiles_bf16"};
  return std::string(kNames.at(static_cast<std::size_t>(std::get<0>(info.param)))) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Ways, NormGradientsOfConv,
                         testing::Combine(testing::Values(Way::PlainF32, Way::TilesF32, Way::PlainBf16, Way::TilesBf16),
                                          testing::ValuesIn(kCases)),
                         name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
