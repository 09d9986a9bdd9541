// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares two computations of a batch norm's gradients: inside the data gradient that computes its dy, and by two
// separate kernels. These are a data gradient that stores dy, and the batch norm's own backward.
#include "engine/cpu/norm/shared_gradients.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/cpu/conv/drawn_tensors_testing.h"
#include "engine/cpu/conv/products/product_way_testing.h"
#include "engine/cpu/conv/products/products.h"

namespace roentgen::engine::cpu {
namespace {
using simd::ProductUnit;

struct Case {
  const char* name;
  std::vector<std::int64_t> pieces;  // number of channel blocks of each piece
  std::int64_t out_blocks, height, width;
  int threads = 2;
  bool relu = true;
  bool is_first = false;  // the pieces' gradients are overwritten, not added to
  int frozen = -1;        // index of the piece that needs no gradient
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const std::vector<Case> kCases{
    {"one_piece", {2}, 3, 4, 8},
    {"images_that_end_within_tiles", {3, 2}, 1, 6, 5},
    {"smaller_than_a_tile", {1, 2}, 2, 1, 3},
    {"several_sizes", {2, 1, 1, 3}, 2, 9, 7, 3},
    {"the_first_reader", {2, 3}, 2, 7, 7, 1, true, true},
    {"without_relu", {1, 2}, 2, 5, 6, 2, false},
    {"a_frozen_piece", {2, 1, 2}, 2, 5, 7, 2, true, false, 1},
    {"many_panels", {2, 2}, 2, 40, 41},
    {"parts_of_the_channels", {1, 1}, 50, 18, 19},
};

// Computes the constants that a forward would leave. T is the type of stored values.
template <class T>
class Constants final : public Kernel {
 public:
  Constants(const NormShape& shape, NormBackward work, std::int64_t slots) : of_(shape, std::move(work), slots) {}
  void bind(const Addresses& addresses) override { of_.bind(addresses); }
  void run() override { of_.fold_constants(); }

 private:
  SharedGradients<T> of_;
};

class SharedGradientsOfConv : public testing::TestWithParam<std::tuple<ProductWay, Case>> {
 protected:
  static constexpr std::int64_t kImages = 3, kBlock = kProductBlock;
  // Tensor numbers. After these, each piece of the input has four tensors: its value, statistics, gradient and sums.
  enum Tensor : TensorId {
    kDst,
    kWeights,
    kDy,
    kScale,
    kShift,
    kConstants,
    kDiffScale,
    kDiffShift,
    kPartial,
    kScratch
  };
  static constexpr TensorId kPieces = kScratch + 1, kOfPiece = 4;

  struct Made {
    std::vector<float> gradients, sums, diff_scale, diff_shift;
  };

  void SetUp() override {
    const ProductUnit unit = unit_of(way());
    for (const std::int64_t blocks : c().pieces) blocks_ += blocks;
    shape_ = {.images = kImages,
              .in_blocks = blocks_,
              .out_blocks = c().out_blocks,
              .in_height = c().height,
              .in_width = c().width,
              .out_height = c().height,
              .out_width = c().width,
              .dtype = is_bf16() ? DType::Bf16 : DType::F32,
              .threads = c().threads,
              .unit = unit};
    if (const std::string what = lacking(shape_); !what.empty()) GTEST_SKIP() << what;
  }

  static ProductWay way() { return std::get<0>(GetParam()); }
  static const Case& c() { return std::get<1>(GetParam()); }
  static bool is_bf16() { return stores_bf16(way()); }
  static std::int64_t pixels() { return c().height * c().width; }
  bool needs_gradient(std::size_t piece) const { return static_cast<int>(piece) != c().frozen; }

  FusedNormBackward norm(bool is_one) const {
    FusedNormBackward made{.shape = {.images = kImages,
                                     .blocks = blocks_,
                                     .pixels = pixels(),
                                     .block = static_cast<int>(kBlock),
                                     .value_dtype = shape_.dtype,
                                     .result_dtype = shape_.dtype,
                                     .threads = c().threads},
                           .work = {.pieces = {},
                                    .parameters = {.scale = kScale, .shift = kShift},
                                    .dy = is_one ? -1 : TensorId{kDy},
                                    .diff_scale = kDiffScale,
                                    .diff_shift = kDiffShift,
                                    .constants = kConstants,
                                    .partial = kPartial,
                                    .relu = c().relu}};
    for (std::size_t i = 0; i < c().pieces.size(); ++i) {
      const auto at = kPieces + static_cast<TensorId>(i) * kOfPiece;
      made.work.pieces.push_back({.value = at,
                                  .blocks = c().pieces[i],
                                  .statistics = at + 1,
                                  .gradient = needs_gradient(i) ? at + 2 : -1,
                                  .sums = at + 3,
                                  .is_first = c().is_first,
                                  .needs_gradient = needs_gradient(i)});
    }
    return made;
  }

  // Runs a pass and returns its results. `is_one`: one fused kernel, else two kernels with dy stored in between.
  Made made_by(bool is_one) {
    tensors_ = {};
    const std::int64_t channels = blocks_ * kBlock;
    tensors_.draw(kImages * c().out_blocks * pixels() * kBlock, 1, shape_.dtype);
    tensors_.draw(channels * c().out_blocks * kBlock, 2, DType::F32);
    tensors_.fill(is_one ? 0 : kImages * channels * pixels(), shape_.dtype);  // dy
    tensors_.draw(channels, 3, DType::F32);
    tensors_.draw(channels, 4, DType::F32);
    tensors_.fill(2 * channels, DType::F32);
    tensors_.fill(channels, DType::F32);
    tensors_.fill(channels, DType::F32);
    tensors_.fill(4 * channels * std::max<std::int64_t>(kImages, c().threads),
                  DType::F32);  // partial sums: two doubles per channel and slot
    tensors_.fill(0, DType::F32);
    for (std::size_t i = 0; i < c().pieces.size(); ++i) {
      const std::int64_t own = c().pieces[i] * kBlock;
      tensors_.draw(kImages * own * pixels(), 10 + 10 * i, shape_.dtype);
      tensors_.draw(3 * own, 11 + 10 * i, DType::F32);
      tensors_.draw(kImages * own * pixels(), 12 + 10 * i, shape_.dtype);
      tensors_.draw(2 * own, 13 + 10 * i, DType::F32);
    }
    const std::size_t scratch_bytes =
        product_kernel(shape_, ConvPass::BackwardData, {})->scratch_bytes().total(shape_.threads);
    const auto run = [&](const std::unique_ptr<Kernel>& kernel) { tensors_.run(*kernel, kScratch, scratch_bytes); };
    if (is_one) {
      const FusedNormBackward gradient = norm(true);
      // Computes the constants as the forward would have done.
      if (is_bf16()) {
        run(std::make_unique<Constants<Bf16>>(gradient.shape, gradient.work, c().threads));
      } else {
        run(std::make_unique<Constants<float>>(gradient.shape, gradient.work, c().threads));
      }
      ConvTensors tensors{.weights = kWeights, .dst = kDst, .scratch = kScratch};
      tensors.epilogue.norm_gradient = gradient;
      run(product_kernel(shape_, ConvPass::BackwardData, tensors));
    } else {
      run(product_kernel(shape_, ConvPass::BackwardData,
                         {.src = kDy, .weights = kWeights, .dst = kDst, .scratch = kScratch}));
      const FusedNormBackward gradient = norm(false);
      run(shared_backward_kernel(gradient.shape, gradient.work));
    }
    Made made{.gradients = {},
              .sums = {},
              .diff_scale = tensors_.floats(kDiffScale),
              .diff_shift = tensors_.floats(kDiffShift)};
    for (std::size_t i = 0; i < c().pieces.size(); ++i) {
      const std::size_t at = kPieces + i * kOfPiece;
      for (const float value : tensors_.floats(at + 2)) made.gradients.push_back(value);
      for (const float value : tensors_.floats(at + 3)) made.sums.push_back(value);
    }
    return made;
  }

 private:
  ProductShape shape_;
  std::int64_t blocks_ = 0;
  DrawnTensors tensors_;
};

// Bound for f32 sums in chains of at most 64 additions (2^-24 = 6e-8 per term) that begin at different pixels. A term
// is up to about 50: dy is a sum of up to 800 products of normal numbers, whose standard deviation is 28. Errors of
// chains add up as their root.
void expect_near(const std::vector<float>& found, const std::vector<float>& wanted, double pixels) {
  ASSERT_EQ(found.size(), wanted.size());
  const double bound = 64 * 6e-8 * std::sqrt(pixels) * 50;
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], bound + 1e-5 * std::abs(wanted[i]));
}

TEST_P(SharedGradientsOfConv, are_those_of_the_norms_own_backward) {
  const Made two = made_by(false);
  const Made one = made_by(true);
  EXPECT_EQ(one.gradients, two.gradients) << "to the bit: the same sums, pixel by pixel";
  const double all = static_cast<double>(kImages * pixels());
  expect_near(one.diff_scale, two.diff_scale, all);
  expect_near(one.diff_shift, two.diff_shift, all);
  expect_near(one.sums, two.sums, 1.0);  // means
}

TEST_P(SharedGradientsOfConv, are_the_same_bits_every_time) {
  const Made first = made_by(true);
  const Made again = made_by(true);
  EXPECT_EQ(first.sums, again.sums);
  EXPECT_EQ(first.gradients, again.gradients);
  EXPECT_EQ(first.diff_scale, again.diff_scale);
  EXPECT_EQ(first.diff_shift, again.diff_shift);
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<ProductWay, Case>>& info) {
  return name_of(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

const auto kShared = share_by_unit(kCases, product_ways());
INSTANTIATE_TEST_SUITE_P(Ways, SharedGradientsOfConv, testing::ValuesIn(kShared.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, SharedGradientsOfConv, testing::ValuesIn(kShared.rest), name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
