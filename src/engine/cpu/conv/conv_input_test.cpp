// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions that normalise their input must give the same bits as convolutions that read normalised values.
#include "engine/cpu/conv/conv_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/random.h"
#include "engine/cpu/conv/products/product_way_testing.h"
#include "engine/cpu/conv/products/products.h"
#include "engine/cpu/conv/winograd/winograd.h"
#include "engine/cpu/simd/isa.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {
namespace {
using simd::ProductUnit;

struct Case {
  const char* name;
  std::vector<std::int64_t> pieces;  // number of channel blocks of each piece
  std::int64_t out_blocks, height, width, kernel = 1, stride = 1, pad = 0;
  bool relu = true;
  std::int64_t kernel_width = kernel;
  // An axis with one tap needs no padding.
  std::int64_t pad_top() const { return kernel == 1 ? 0 : pad; }
  std::int64_t pad_left() const { return kernel_width == 1 ? 0 : pad; }
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const std::vector<Case> kCases{
    {"one_piece", {2}, 3, 5, 7},
    {"fewer_out", {3, 2}, 1, 6, 5},
    {"pieces_of_several_sizes", {2, 1, 1, 3}, 2, 5, 6},
    {"padded", {1, 2}, 2, 7, 6, 3, 1, 1},
    {"without_relu", {2, 2}, 2, 9, 5, 3, 1, 1, false},
    {"strided", {1, 3}, 2, 9, 8, 3, 2, 1},
    {"five_padded", {1, 1}, 3, 9, 7, 5, 1, 2},
    {"row_of_seven", {1, 2}, 2, 5, 9, 1, 1, 3, true, 7},
    {"column_of_seven", {2, 1}, 1, 9, 4, 7, 1, 3, true, 1},
};

using Floats = std::vector<float>;
Floats random_floats(std::int64_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  Floats made(static_cast<std::size_t>(count));
  for (float& value : made) value = static_cast<float>(random.normal());
  return made;
}

class ConvInputs : public testing::TestWithParam<std::tuple<ProductWay, Case>> {
 protected:
  static constexpr std::int64_t kImages = 3;
  // Tensor numbers: src, weights, dst, scratch, constants, and the first piece.
  static constexpr TensorId kSrc = 0, kWeights = 1, kDst = 2, kScratch = 3, kConstants = 4, kPieces = 5;

  void SetUp() override {
    const ProductUnit unit = unit_of(way());
    if (is_by_winograd(way()) && (!window().is_known() || c().stride > 1)) GTEST_SKIP() << "SKIPPED: not for Winograd";
    for (const std::int64_t blocks : c().pieces) in_blocks_ += blocks;
    shape_ = {.images = kImages,
              .in_blocks = in_blocks_,
              .out_blocks = c().out_blocks,
              .in_height = c().height,
              .in_width = c().width,
              .out_height = (c().height + 2 * c().pad_top() - c().kernel) / c().stride + 1,
              .out_width = (c().width + 2 * c().pad_left() - c().kernel_width) / c().stride + 1,
              .kernel_height = c().kernel,
              .kernel_width = c().kernel_width,
              .stride_y = c().stride,
              .stride_x = c().stride,
              .pad_top = c().pad_top(),
              .pad_left = c().pad_left(),
              .dtype = is_bf16() ? DType::Bf16 : DType::F32,
              .threads = 2,
              .unit = unit};
    if (const std::string what = lacking(shape_); !what.empty()) GTEST_SKIP() << what;
    constants_ = random_floats(2 * in_blocks_ * block(), 1);
    weights_ = random_floats(in_blocks_ * c().out_blocks * c().kernel * c().kernel_width * block() * block(), 2);
    gradient_ = stored(random_floats(kImages * c().out_blocks * shape_.out_height * shape_.out_width * block(), 3));
    const std::int64_t plane = c().height * c().width * block();
    src_.resize(static_cast<std::size_t>(kImages * in_blocks_ * plane));
    std::int64_t first = 0;
    for (const std::int64_t blocks : c().pieces) {
      pieces_.push_back(stored(random_floats(kImages * blocks * plane, 4 + pieces_.size())));
      for (std::int64_t i = 0; i < kImages * blocks * plane; ++i) {
        const std::int64_t image = i / (blocks * plane);
        const std::int64_t in_block = first + i / plane % blocks;
        const std::int64_t at = (image * in_blocks_ + in_block) * plane + i % plane;
        src_[static_cast<std::size_t>(at)] =
            normalised(pieces_.back()[static_cast<std::size_t>(i)], in_block * block() + i % block());
      }
      first += blocks;
    }
    src_ = stored(src_);
  }

  static ProductWay way() { return std::get<0>(GetParam()); }
  static const Case& c() { return std::get<1>(GetParam()); }
  static bool is_bf16() { return stores_bf16(way()); }
  static std::int64_t block() { return is_by_winograd(way()) ? simd::vector_block() : kProductBlock; }
  float normalised(float value, std::int64_t channel) const {
    const auto at = static_cast<std::size_t>(channel);
    const float result = std::fma(value, constants_[at], constants_[at + constants_.size() / 2]);
    return c().relu ? std::max(0.0F, result) : result;
  }
  // Rounds values to the type in which they are stored.
  static Floats stored(Floats values) {
    if (is_bf16()) {
      for (float& value : values) value = to_f32(to_bf16(value));
    }
    return values;
  }
  Prologue input() const {
    Prologue made{.pieces = {}, .constants = kConstants, .relu = c().relu};
    for (std::size_t i = 0; i < c().pieces.size(); ++i) {
      made.pieces.push_back({.value = kPieces + static_cast<TensorId>(i), .blocks = c().pieces[i]});
    }
    return made;
  }
  static simd::WinogradWindow window() {
    return {{static_cast<int>(c().kernel)}, {static_cast<int>(c().kernel_width)}};
  }
  WinogradShape winograd() const {
    return {.window = window(),
            .images = kImages,
            .in_blocks = in_blocks_,
            .out_blocks = c().out_blocks,
            .in_height = c().height,
            .in_width = c().width,
            .out_height = shape_.out_height,
            .out_width = shape_.out_width,
            .pad_top = c().pad_top(),
            .pad_left = c().pad_left(),
            .block = static_cast<int>(block()),
            .dtype = is_bf16() ? DType::Bf16 : DType::F32,
            .threads = 2};
  }
  std::unique_ptr<ConvKernel> kernel_of(bool is_forward, const ConvTensors& tensors) const {
    const ConvPass pass = is_forward ? ConvPass::Forward : ConvPass::BackwardWeights;
    if (is_by_winograd(way())) return winograd_kernel(winograd(), pass, tensors);
    return product_kernel(shape_, pass, tensors);
  }

  // Returns the bits of dst after a forward, or of weights after a weight gradient. The kernel reads src or, if
  // `is_of_norm`, the pieces. Tensors that it must not read contain NaN.
  std::vector<std::byte> result_of(bool is_forward, bool is_of_norm) {
    ConvTensors tensors{.src = kSrc, .weights = kWeights, .dst = kDst, .scratch = kScratch};
    if (is_of_norm) tensors.prologue = input();
    std::vector<std::vector<std::byte>> memory;
    std::vector<bool> is_narrow;
    const auto add = [&](const Floats& values, bool is_value, bool is_hidden) {
      is_narrow.push_back(is_value && is_bf16());
      const std::size_t bytes = values.size() * (is_narrow.back() ? sizeof(Bf16) : sizeof(float));
      memory.emplace_back(bytes);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float value = is_hidden ? std::nanf("") : values[i];
        const Bf16 narrow = to_bf16(value);
        if (is_narrow.back()) {
          std::memcpy(memory.back().data() + i * sizeof(Bf16), &narrow, sizeof narrow);
        } else {
          std::memcpy(memory.back().data() + i * sizeof(float), &value, sizeof value);
        }
      }
    };
    add(src_, true, is_of_norm);
    add(weights_, false, false);
    add(gradient_, true, false);
    const std::unique_ptr<ConvKernel> kernel = kernel_of(is_forward, tensors);
    const runtime::AlignedBuffer scratch(kernel->scratch_bytes().total(2));
    std::memset(scratch.data(), 0xff, scratch.size());
    memory.emplace_back();
    is_narrow.push_back(false);
    add(constants_, false, !is_of_norm);
    for (const Floats& piece : pieces_) add(piece, true, !is_of_norm);
    std::vector<std::byte*> addresses;
    for (std::vector<std::byte>& each : memory) addresses.push_back(each.data());
    addresses[kScratch] = scratch.data();
    kernel->bind(Addresses(addresses, is_narrow));
    kernel->run();
    return memory[static_cast<std::size_t>(is_forward ? kDst : kWeights)];
  }

  ProductShape shape_;
  std::int64_t in_blocks_ = 0;
  Floats src_, weights_, gradient_, constants_;
  std::vector<Floats> pieces_;
};

TEST_P(ConvInputs, forward_has_the_bits_of_reading_the_normalised_values) {
  EXPECT_EQ(result_of(true, true), result_of(true, false));
}

TEST_P(ConvInputs, weight_gradient_has_the_bits_of_reading_the_normalised_values) {
  EXPECT_EQ(result_of(false, true), result_of(false, false));
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<ProductWay, Case>>& info) {
  return name_of(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

const auto kShared = share_by_unit(kCases, product_and_winograd_ways());
INSTANTIATE_TEST_SUITE_P(Ways, ConvInputs, testing::ValuesIn(kShared.one_unit_each), name_of_test);
INSTANTIATE_TEST_SUITE_P(Product, ConvInputs, testing::ValuesIn(kShared.rest), name_of_test);

}  // namespace
}  // namespace roentgen::engine::cpu
