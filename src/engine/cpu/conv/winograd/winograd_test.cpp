// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the three Winograd passes with sums in double, for every instruction set, odd sizes, pads, groups of channel
// blocks, and several chunks of tiles.
#include "engine/cpu/conv/winograd/winograd.h"
#include "engine/cpu/plan/product_testing.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/random.h"
#include "engine/cpu/conv/winograd/winograd_pass.h"
#include "engine/cpu/plan/bf16.h"
#include "engine/cpu/plan/team_testing.h"
#include "engine/cpu/simd/isa.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {
namespace {

struct Case {
  const char* name;
  std::int64_t images, in_blocks, out_blocks, height, width, pad_top, pad_left;
  bool has_bias = false;
  simd::WinogradWindow window{};
};
constexpr simd::WinogradWindow kRow3{{1}, {3}}, kColumn3{{3}, {1}}, kRow7{{1}, {7}}, kColumn7{{7}, {1}},
    kSquare5{{5}, {5}};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Padding below and right equals that above and left, so every possible pad of a window of 3 occurs on every side.
const std::vector<Case> kCases{
    {"one_tile", 1, 1, 1, 4, 4, 1, 1},
    {"seven", 2, 2, 4, 7, 7, 1, 1},
    {"fourteen", 2, 1, 2, 14, 14, 1, 1},
    {"fourteen_by_seven_in_chunks", 9, 8, 8, 14, 7, 1, 1, true},
    {"groups_by_turns", 2, 3, 12, 9, 13, 1, 1},
    {"odd_and_biased", 3, 1, 2, 9, 5, 1, 1, true},
    {"no_pad", 1, 3, 3, 10, 6, 0, 0},
    {"full_pad", 1, 2, 1, 5, 6, 2, 2, true},
    {"mixed_pad", 2, 1, 5, 3, 11, 2, 0},
    {"single_pixel", 5, 1, 1, 1, 1, 1, 1},
    {"several_chunks", 2, 4, 8, 50, 50, 1, 1, true},
    {"four_lanes", 8, 1, 2, 61, 58, 1, 1, true},
    {"uneven_chunks_across_images", 11, 1, 2, 28, 28, 1, 1, true},
    {"row_of_seven", 3, 2, 4, 17, 17, 0, 3, true, kRow7},
    {"column_of_seven", 3, 4, 2, 17, 17, 3, 0, true, kColumn7},
    {"row_of_seven_unpadded", 1, 1, 3, 2, 16, 0, 0, false, kRow7},
    {"column_of_seven_padded_fully", 2, 1, 1, 3, 5, 6, 0, false, kColumn7},
    {"row_of_seven_in_chunks", 1, 1, 2, 120, 130, 0, 3, true, kRow7},
    {"column_of_seven_in_lanes", 2, 1, 1, 101, 103, 3, 0, false, kColumn7},
    {"row_of_three", 2, 3, 4, 8, 8, 0, 1, true, kRow3},
    {"column_of_three", 2, 4, 3, 7, 8, 1, 0, false, kColumn3},
    {"groups_of_several_sizes", 2, 5, 13, 7, 7, 1, 1, true},
    {"groups_of_two_sizes_in_lanes", 2, 1, 5, 32, 32, 1, 1, true},
    {"groups_of_two_sizes_before", 2, 5, 1, 32, 32, 1, 1},
    {"five", 2, 3, 4, 11, 10, 2, 2, true, kSquare5},
    {"five_padded_otherwise", 2, 1, 1, 5, 9, 0, 4, false, kSquare5},
    {"five_in_chunks", 1, 2, 4, 35, 35, 2, 2, false, kSquare5},
};

// A Highway target and a block size. AVX-512 is also tested with blocks of 8, which DNNL_MAX_CPU_ISA=AVX2 leads to.
struct Target {
  std::int64_t target;
  int block;
};
const std::vector<Target> kTargets{{HWY_AVX3, 16}, {HWY_AVX3, 8}, {HWY_AVX2, 8}, {HWY_AVX2, 16}};

class WinogradPasses : public testing::TestWithParam<std::tuple<Target, Case>> {
 public:
  void SetUp() override {
    const std::int64_t target = std::get<0>(GetParam()).target;
    if ((hwy::SupportedTargets() & target) == 0) {
      GTEST_SKIP() << "SKIPPED: this machine has no " << hwy::TargetName(target);
    }
    hwy::SetSupportedTargetsForTest(target);
    const Case& c = std::get<1>(GetParam());
    shape_ = {.window = c.window,
              .images = c.images,
              .in_blocks = c.in_blocks,
              .out_blocks = c.out_blocks,
              .in_height = c.height,
              .in_width = c.width,
              .out_height = c.height + 2 * c.pad_top - c.window.down.taps + 1,
              .out_width = c.width + 2 * c.pad_left - c.window.across.taps + 1,
              .pad_top = c.pad_top,
              .pad_left = c.pad_left,
              .block = std::get<0>(GetParam()).block,
              .threads = 1};
    fill(src_, c.images * c.in_blocks * c.height * c.width * shape_.block, 1);
    fill(dst_, c.images * c.out_blocks * shape_.out_height * shape_.out_width * shape_.block, 2);
    fill(weights_, c.in_blocks * c.out_blocks * c.window.taps() * shape_.block * shape_.block, 3);
    fill(bias_, c.out_blocks * shape_.block, 4);
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  static void fill(std::vector<float>& values, std::int64_t count, std::uint64_t seed) {
    Random random(seed, RandomStage::Test);
    values.resize(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(random.normal());
  }

  // Runs a pass as plans do, with separate memory for each thread. Scratch is initially NaN, so reads of unwritten
  // values are noticed. The gaps between the threads' memory must not change.
  void run(std::unique_ptr<ConvKernel> kernel) {
    const auto bytes = [](std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); };
    run(*kernel, shape_.threads, {bytes(src_), bytes(weights_), bytes(bias_), bytes(dst_)}, {});
  }
  static void run(ConvKernel& kernel, int threads, std::vector<std::byte*> addresses, std::vector<bool> is_bf16) {
    const ScratchBytes scratch = kernel.scratch_bytes();
    constexpr std::size_t kBetween_bytes = 192;
    constexpr auto kUnwritten = std::byte{0xff};
    const std::size_t stride = scratch.own + kBetween_bytes;
    const runtime::AlignedBuffer shared(scratch.shared), own(static_cast<std::size_t>(threads) * stride);
    for (const auto* each : {&shared, &own}) {
      if (each->size() > 0) std::memset(each->data(), 0xff, each->size());
    }
    addresses.insert(addresses.end(), {shared.data(), own.data()});
    is_bf16.resize(is_bf16.empty() ? 0 : addresses.size());
    kernel.bind(Addresses(std::move(addresses), std::move(is_bf16), static_cast<std::int64_t>(stride)));
    kernel.run();
    for (int thread = 0; thread < threads; ++thread) {
      const std::byte* behind = own.data() + static_cast<std::size_t>(thread) * stride + scratch.own;
      EXPECT_TRUE(std::all_of(behind, behind + kBetween_bytes, [](std::byte b) { return b == kUnwritten; }))
          << "thread " << thread << " of " << threads;
    }
  }
  // Expects that `pass` reproduces `result` bit for bit with every team size, also if OpenMP grants only one thread.
  template <typename Run>
  void expect_the_same_bits_on_teams(std::vector<float>& result, const Run& pass) {
    const std::vector<float> alone = result;
    for (const int threads : {2, 3, 4}) {
      for (const bool is_one : {false, true}) {
        SCOPED_TRACE(testing::Message() << threads << " threads" << (is_one ? ", of whom one came" : ""));
        shape_.threads = threads;
        std::ranges::fill(result, std::nanf(""));
        is_one ? with_one_thread(pass) : pass();
        EXPECT_EQ(std::memcmp(alone.data(), result.data(), alone.size() * sizeof(float)), 0);
      }
    }
  }
  ConvTensors tensors() const {
    const bool has_bias = std::get<1>(GetParam()).has_bias;
    return {.src = 0, .weights = 1, .bias = has_bias ? 2 : -1, .dst = 3, .scratch = 4, .own_scratch = 5};
  }

  // Calls f(src index, weights index, dst index) for every product of the convolution.
  template <typename F>
  void for_products(const F& f) const {
    const std::int64_t b = shape_.block;
    const int taps = shape_.window.taps(), across = shape_.window.across.taps;
    for (std::int64_t i = 0; i < shape_.images * shape_.out_blocks * shape_.in_blocks * b; ++i) {
      const std::int64_t ic = i % (shape_.in_blocks * b), oblock = i / (shape_.in_blocks * b) % shape_.out_blocks;
      const std::int64_t n = i / (shape_.in_blocks * b) / shape_.out_blocks;
      for (std::int64_t y = 0; y < shape_.out_height; ++y) {
        for (std::int64_t x = 0; x < shape_.out_width; ++x) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            const std::int64_t iy = y + tap / across - shape_.pad_top;
            const std::int64_t ix = x + tap % across - shape_.pad_left;
            if (iy < 0 || iy >= shape_.in_height || ix < 0 || ix >= shape_.in_width) continue;
            const std::int64_t s =
                (((n * shape_.in_blocks + ic / b) * shape_.in_height + iy) * shape_.in_width + ix) * b + ic % b;
            const std::int64_t w = ((oblock * shape_.in_blocks + ic / b) * taps + tap) * b * b + ic % b * b;
            const std::int64_t d =
                (((n * shape_.out_blocks + oblock) * shape_.out_height + y) * shape_.out_width + x) * b;
            for (std::int64_t o = 0; o < b; ++o) {
              f(static_cast<std::size_t>(s), static_cast<std::size_t>(w + o), static_cast<std::size_t>(d + o));
            }
          }
        }
      }
    }
  }

  // Growth of rounding errors along one axis, relative to a direct sum; two axes multiply. It is computed for A^T; G^T
  // gives the same. For each row, squares are summed over the positions. Each term is the row's coefficient times the
  // norms of the position's rows in the two other matrices. The growth is the root of the mean over the rows, divided
  // by the root of the number of taps (for G^T: of results).
  static double growth(const simd::WinogradAxis& axis) {
    return axis.taps == 1 ? 1.0 : axis.taps == 3 ? 2.19 : axis.taps == 5 ? 4.37 : 10.2;
  }
  // F(4x4, 3x3) loses about a decimal digit: the relative L2 error of f32 rounding through its transforms is below
  // 1e-6. A sum of n products in f32 adds a random walk of about 2^-24 sqrt(n). Other windows multiply both by their
  // growth. The bound does not hold for images so narrow that most taps read zeros, because the result is then too
  // small.
  void expect_close(const std::vector<float>& got, const std::vector<double>& expected, std::int64_t terms) const {
    const double more = growth(shape_.window.down) * growth(shape_.window.across) / (growth({3}) * growth({3}));
    expect_within(got, expected, more * (1e-6 + 1e-7 * std::sqrt(static_cast<double>(terms))));
  }
  static void expect_within(const std::vector<float>& got, const std::vector<double>& expected, double bound) {
    double error = 0.0, norm = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double difference = static_cast<double>(got[i]) - expected[i];
      error += difference * difference;
      norm += expected[i] * expected[i];
    }
    EXPECT_LE(std::sqrt(error / norm), bound);
  }

  WinogradShape shape_;
  std::vector<float> src_, dst_, weights_, bias_;
};

TEST_P(WinogradPasses, forward_equals_sums_in_double) {
  std::vector<double> expected(dst_.size(), 0.0);
  if (tensors().bias >= 0) {
    const auto plane = static_cast<std::size_t>(shape_.out_height * shape_.out_width * shape_.block);
    const auto block = static_cast<std::size_t>(shape_.block);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = static_cast<double>(bias_[(i / plane * block + i % block) % bias_.size()]);
    }
  }
  for_products([&](std::size_t s, std::size_t w, std::size_t d) {
    expected[d] += static_cast<double>(src_[s]) * static_cast<double>(weights_[w]);
  });
  const auto pass = [&] { run(winograd_kernel(shape_, ConvPass::Forward, tensors())); };
  pass();
  expect_close(dst_, expected, shape_.in_blocks * shape_.block);
  expect_the_same_bits_on_teams(dst_, pass);
}

TEST_P(WinogradPasses, backward_data_equals_sums_in_double) {
  std::vector<double> expected(src_.size(), 0.0);
  for_products([&](std::size_t s, std::size_t w, std::size_t d) {
    expected[s] += static_cast<double>(dst_[d]) * static_cast<double>(weights_[w]);
  });
  ConvTensors used = tensors();
  used.bias = -1;
  const auto pass = [&] { run(winograd_kernel(shape_, ConvPass::BackwardData, used)); };
  pass();
  expect_close(src_, expected, shape_.out_blocks * shape_.block);
  expect_the_same_bits_on_teams(src_, pass);
}

TEST_P(WinogradPasses, backward_weights_equal_sums_in_double) {
  std::vector<double> expected(weights_.size(), 0.0);
  std::vector<double> expected_bias(bias_.size(), 0.0);
  for_products([&](std::size_t s, std::size_t w, std::size_t d) {
    expected[w] += static_cast<double>(src_[s]) * static_cast<double>(dst_[d]);
  });
  const auto plane = static_cast<std::size_t>(shape_.out_height * shape_.out_width * shape_.block);
  const auto block = static_cast<std::size_t>(shape_.block);
  for (std::size_t i = 0; i < dst_.size(); ++i) {
    expected_bias[(i / plane * block + i % block) % bias_.size()] += static_cast<double>(dst_[i]);
  }
  const auto pass = [&] { run(winograd_kernel(shape_, ConvPass::BackwardWeights, tensors())); };
  pass();
  const std::int64_t tile = shape_.window.down.out() * shape_.window.across.out();
  expect_close(weights_, expected, shape_.images * shape_.out_height * shape_.out_width / tile);
  // The bias gradient is a direct sum in f32.
  if (tensors().bias >= 0) expect_within(bias_, expected_bias, 1e-6);
  expect_the_same_bits_on_teams(weights_, pass);
}

// With bf16 values, results must be the bits of the f32 kernel on the same values, rounded once.
TEST_P(WinogradPasses, bf16_values_give_the_bits_of_f32_rounded) {
  const auto narrowed = [](const std::vector<float>& values) {
    std::vector<Bf16> made(values.size());
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = to_bf16(values[i]);
    return made;
  };
  const auto is_same = [](const std::vector<Bf16>& left, const std::vector<Bf16>& right) {
    return std::memcmp(left.data(), right.data(), left.size() * sizeof(Bf16)) == 0;
  };
  for (std::vector<float>* each : {&src_, &dst_}) {
    for (float& value : *each) value = to_f32(to_bf16(value));
  }
  std::vector<Bf16> src = narrowed(src_), dst = narrowed(dst_);
  WinogradShape narrow = shape_;
  narrow.dtype = DType::Bf16;
  narrow.threads = 3;
  ConvTensors data = tensors();
  data.bias = -1;
  const std::vector<float> given = src_;
  const auto run_narrow = [&](const std::unique_ptr<ConvKernel>& kernel, std::vector<float>& weights) {
    const auto bytes = [](auto& values) { return reinterpret_cast<std::byte*>(values.data()); };
    run(*kernel, narrow.threads, {bytes(src), bytes(weights), bytes(bias_), bytes(dst)}, {true, false, false, true});
  };
  std::vector<float> weights = weights_;
  run(winograd_kernel(shape_, ConvPass::BackwardWeights, tensors()));
  const std::vector<float> bias = bias_;
  if (tensors().bias >= 0) std::ranges::fill(bias_, 0.0F);
  run_narrow(winograd_kernel(narrow, ConvPass::BackwardWeights, tensors()), weights);
  EXPECT_EQ(std::memcmp(weights.data(), weights_.data(), weights.size() * sizeof(float)), 0) << "weight gradient";
  EXPECT_EQ(bias_, bias) << "bias gradient";
  run(winograd_kernel(shape_, ConvPass::BackwardData, data));
  run_narrow(winograd_kernel(narrow, ConvPass::BackwardData, data), weights);
  EXPECT_TRUE(is_same(src, narrowed(src_))) << "data gradient";
  src_ = given;
  src = narrowed(src_);
  run(winograd_kernel(shape_, ConvPass::Forward, tensors()));
  run_narrow(winograd_kernel(narrow, ConvPass::Forward, tensors()), weights);
  EXPECT_TRUE(is_same(dst, narrowed(dst_))) << "forward";
}

// Sub-teams that divide groups have separate transformed values, unless these take too much memory.
TEST(WinogradTeams, that_share_values_give_the_bits_of_those_that_do_not) {
  if (simd::vector_block() != kMostWinogradBlock) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  WinogradShape shape{.images = 32,
                      .in_blocks = 10,
                      .out_blocks = 40,
                      .in_height = 7,
                      .in_width = 7,
                      .out_height = 7,
                      .out_width = 7,
                      .pad_top = 1,
                      .pad_left = 1};
  std::vector<float> src, dst, weights;
  WinogradPasses::fill(src, shape.images * shape.in_blocks * 49 * shape.block, 1);
  WinogradPasses::fill(dst, shape.images * shape.out_blocks * 49 * shape.block, 2);
  EXPECT_GT(Tiling(shape, 7, 7).chunks(), 1);
  std::vector<float> alone;
  for (const int threads : {1, 2, 10}) {
    shape.threads = threads;
    weights.assign(static_cast<std::size_t>(shape.in_blocks * shape.out_blocks * 9 * 256), std::nanf(""));
    const auto bytes = [](std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); };
    const ConvTensors tensors{.src = 0, .weights = 1, .dst = 2, .scratch = 3, .own_scratch = 4};
    const std::unique_ptr<ConvKernel> kernel = winograd_kernel(shape, ConvPass::BackwardWeights, tensors);
    EXPECT_EQ(kernel->scratch_bytes().own > 0, threads < 10) << threads;
    WinogradPasses::run(*kernel, threads, {bytes(src), bytes(weights), bytes(dst)}, {});
    if (threads == 1) alone = weights;
    EXPECT_EQ(std::memcmp(alone.data(), weights.data(), alone.size() * sizeof(float)), 0) << threads;
  }
}

const auto kShared = [] {
  std::vector<std::vector<WinogradPasses::ParamType>> by_target;
  for (const Case& tested : kCases) {
    for (auto& all = by_target.emplace_back(); const Target& target : kTargets) all.emplace_back(target, tested);
  }
  return share_out<WinogradPasses::ParamType>(by_target, [](const WinogradPasses::ParamType& param) {
    return (hwy::SupportedTargets() & std::get<0>(param).target) != 0;
  });
}();

std::string name_of_test(const testing::TestParamInfo<WinogradPasses::ParamType>& chosen) {
  const Target& target = std::get<0>(chosen.param);
  return std::string(hwy::TargetName(target.target)) + "_" + std::to_string(target.block) + "_" +
         std::get<1>(chosen.param).name;
}

INSTANTIATE_TEST_SUITE_P(Targets, WinogradPasses, testing::ValuesIn(kShared.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, WinogradPasses, testing::ValuesIn(kShared.rest), name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
