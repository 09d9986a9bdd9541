// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares cuDNN's convolution plans with the reference in double. Skipped if there is no CUDA device.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <iostream>

#include "core/random.h"
#include "engine/cuda/cards.h"
#include "engine/cuda/conv/convolutions.h"
#include "engine/reference/ops.h"
#include "runtime/cuda/gpu_testing.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {
namespace {

using reference::Array;

/// Bound of |got - reference| = result * |reference| + sum * (sum of the magnitudes of the products). `result` covers
/// rounding of the result, `sum` rounding of the partial sums.
struct Bounds {
  double result;
  double sum;
};

Bounds bounds_of(const ConvProblem& problem) {
  // Rounding to nearest has an error of half a unit in the last place: 2^-9 (bf16), 2^-11 (f16), 2^-24 (f32). The
  // bounds double it. Sums of at most 300 products in f32 have an error of 300 * 2^-24 < 2^-15; TF32 rounds each factor
  // by at most 2^-11.
  constexpr double kSum = 0x1p-15;
  if (problem.dtype == DType::Bf16) return {0x1p-8, kSum};
  if (problem.dtype == DType::F16) return {0x1p-10, kSum};
  return {0x1p-23, problem.may_round_to_tf32 ? 0x1p-9 : kSum};
}

void write(double value, DType dtype, std::byte* to) {
  const auto f32 = static_cast<float>(value);
  if (dtype == DType::F32) {
    std::memcpy(to, &f32, sizeof f32);
  } else if (dtype == DType::F16) {
    const auto f16 = static_cast<_Float16>(f32);
    std::memcpy(to, &f16, sizeof f16);
  } else {
    const auto bits = std::bit_cast<std::uint32_t>(f32);
    const auto half = static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
    std::memcpy(to, &half, sizeof half);
  }
}

double read(DType dtype, const std::byte* from) {
  if (dtype == DType::F32) {
    float f32 = 0.0F;
    std::memcpy(&f32, from, sizeof f32);
    return f32;
  }
  if (dtype == DType::F16) {
    _Float16 f16 = 0;
    std::memcpy(&f16, from, sizeof f16);
    return static_cast<double>(f16);
  }
  std::uint16_t half = 0;
  std::memcpy(&half, from, sizeof half);
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U);
}

/// A tensor of a pass: channels-last on the device, and as (N, C, H, W) doubles with the same values on the host.
class Operand {
 public:
  Operand(runtime::Device& device, runtime::Stream& stream, DType dtype, const Shape& nchw, Random& random)
      : stream_(stream), dtype_(dtype), values_(nchw) {
    const std::size_t bytes = static_cast<std::size_t>(nchw.elements()) * size_of(dtype);
    pinned_ = device.make_pinned_buffer(bytes);
    buffer_ = device.make_device_buffer(bytes);
    each([&](double& value, std::byte* at) {
      write(random.uniform(-1.0, 1.0), dtype_, at);
      value = read(dtype_, at);
    });
    stream_.upload(*pinned_, *buffer_);
    stream_.synchronize();
  }
  /// Fills the device's copy with NaN.
  void poison() {
    std::ranges::fill(pinned_->bytes(), std::byte{0xFF});
    stream_.upload(*pinned_, *buffer_);
    stream_.synchronize();
  }
  /// Downloads the device's copy.
  [[nodiscard]] Array downloaded() {
    stream_.download(*buffer_, *pinned_);
    stream_.synchronize();
    Array result(values_.shape);
    std::swap(result, values_);
    each([&](double& value, const std::byte* at) { value = read(dtype_, at); });
    std::swap(result, values_);
    return result;
  }
  [[nodiscard]] const Array& values() const { return values_; }
  [[nodiscard]] std::byte* address() const { return buffer_->address(); }

 private:
  template <typename Visit>
  void each(Visit&& visit) {
    const Shape shape = values_.shape;
    reference::for_each_element(shape, [&](auto n, auto c, auto h, auto w) {
      const std::int64_t index = ((n * shape[2] + h) * shape[3] + w) * shape[1] + c;
      visit(values_.at(n, c, h, w), pinned_->bytes().data() + static_cast<std::size_t>(index) * size_of(dtype_));
    });
  }
  runtime::Stream& stream_;
  DType dtype_;
  Array values_;
  std::unique_ptr<runtime::PinnedBuffer> pinned_;
  std::unique_ptr<runtime::DeviceBuffer> buffer_;
};

Array magnitudes(Array array) {
  for (double& value : array.data) value = std::abs(value);
  return array;
}

/// Computes the pass in double with the reference.
Array expected(const ConvProblem& problem, const Array& src, const Array& weights, const Array& dst) {
  const graph::Conv2d op{.out_channels = problem.out_channels,
                         .kernel = {problem.kernel[0], problem.kernel[1]},
                         .stride = {problem.stride[0], problem.stride[1]},
                         .pad = {problem.pad[0], problem.pad[1]},
                         .dilation = {problem.dilation[0], problem.dilation[1]},
                         .groups = problem.groups,
                         .bias = false};
  Array result(dst.shape);
  Array diff_src(src.shape);
  Array diff_weights(weights.shape);
  reference::Scope scope;
  scope.src = {&src};
  scope.parameters = {&weights};
  scope.dst = &result;
  if (problem.pass == ConvPass::Forward) {
    reference::forward(op, scope);
    return result;
  }
  scope.diff_dst = &dst;
  scope.diff_src = {&diff_src};
  scope.diff_parameters = {&diff_weights};
  reference::backward(op, scope);
  return problem.pass == ConvPass::DataGradient ? diff_src : diff_weights;
}

class CudnnConvolutions : public runtime::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    stream_ = device_->make_stream();
    convolutions_ = make_cudnn_convolutions();
  }

  /// Expects that every plan of a problem matches the reference, and that the plan of the same name gives the same
  /// bits.
  void expect_plans_hold(const ConvProblem& problem) {
    Random random(20261127, RandomStage::Test);
    const auto [out_height, out_width] = problem.out_size();
    Operand src(*device_, *stream_, problem.dtype, {problem.images, problem.channels, problem.size[0], problem.size[1]},
                random);
    Operand weights(*device_, *stream_, problem.dtype,
                    {problem.out_channels, problem.channels / problem.groups, problem.kernel[0], problem.kernel[1]},
                    random);
    Operand dst(*device_, *stream_, problem.dtype, {problem.images, problem.out_channels, out_height, out_width},
                random);
    const Array wanted = expected(problem, src.values(), weights.values(), dst.values());
    const Array terms =
        expected(problem, magnitudes(src.values()), magnitudes(weights.values()), magnitudes(dst.values()));
    Operand& result = problem.pass == ConvPass::Forward ? dst : problem.pass == ConvPass::DataGradient ? src : weights;
    constexpr std::size_t kMostPlans = 12;
    for (const auto& plan : convolutions_->plans(problem, kMostPlans)) {
      SCOPED_TRACE(testing::Message() << plan->name() << ", workspace " << plan->workspace_bytes()
                                      << (plan->is_deterministic() ? "" : ", not deterministic"));
      const auto workspace = device_->make_device_buffer(plan->workspace_bytes());
      const ConvOperands operands{src.address(), weights.address(), dst.address(), workspace->address()};
      const Array first = run(*plan, operands, result);
      expect_within_bounds(problem, first, wanted, terms);
      if (!plan->is_deterministic()) continue;
      const Array again = run(*convolutions_->plan_named(problem, plan->name()), operands, result);
      EXPECT_EQ(again.data, first.data);
    }
  }

  std::unique_ptr<Convolutions> convolutions_;

 private:
  Array run(ConvPlan& plan, const ConvOperands& operands, Operand& result) {
    result.poison();
    plan.run(*stream_, operands);
    stream_->synchronize();
    return result.downloaded();
  }
  static void expect_within_bounds(const ConvProblem& problem, const Array& got, const Array& wanted,
                                   const Array& terms) {
    const Bounds bounds = bounds_of(problem);
    double worst = 0.0;
    for (std::int64_t i = 0; i < got.size(); ++i) {
      const double bound = bounds.result * std::abs(wanted[i]) + bounds.sum * terms[i];
      const double error = std::abs(got[i] - wanted[i]) / (bound + 1e-30);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    EXPECT_LE(worst, 1.0) << "largest error as a multiple of its bound";
  }

  std::unique_ptr<runtime::Stream> stream_;
};

constexpr std::array kPasses{ConvPass::Forward, ConvPass::DataGradient, ConvPass::WeightGradient};

/// Kinds of convolutions that the networks contain, at small sizes.
const std::vector<ConvProblem> kProblems{
    {.images = 2, .channels = 16, .size = {9, 7}, .out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}},
    {.images = 2, .channels = 64, .size = {9, 7}, .out_channels = 24},
    {.images = 2, .channels = 64, .size = {9, 8}, .out_channels = 32, .stride = {2, 2}},
    {.images = 2,
     .channels = 32,
     .size = {9, 8},
     .out_channels = 16,
     .kernel = {3, 3},
     .stride = {2, 2},
     .pad = {1, 1}},
    {.images = 2,
     .channels = 4,
     .size = {18, 20},
     .out_channels = 64,
     .kernel = {7, 7},
     .stride = {2, 2},
     .pad = {3, 3}},
    {.images = 2, .channels = 16, .size = {11, 11}, .out_channels = 16, .kernel = {1, 7}, .pad = {0, 3}},
    {.images = 2, .channels = 16, .size = {11, 11}, .out_channels = 16, .kernel = {3, 3}, .dilation = {2, 2}},
    {.images = 2, .channels = 16, .size = {9, 9}, .out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}, .groups = 4},
};

TEST_F(CudnnConvolutions, plans_hold_to_the_reference) {
  struct Precision {
    DType dtype;
    bool may_round_to_tf32;
  };
  for (const Precision& precision :
       {Precision{DType::Bf16, true}, {DType::F16, true}, {DType::F32, true}, {DType::F32, false}}) {
    for (ConvProblem problem : kProblems) {
      problem.dtype = precision.dtype;
      problem.may_round_to_tf32 = precision.may_round_to_tf32;
      for (const ConvPass pass : kPasses) {
        problem.pass = pass;
        SCOPED_TRACE(testing::Message() << name_of(precision.dtype) << (precision.may_round_to_tf32 ? "" : " exact")
                                        << ", pass " << static_cast<int>(pass) << ", " << problem.channels << " to "
                                        << problem.out_channels << ", kernel " << problem.kernel[0] << "x"
                                        << problem.kernel[1] << ", stride " << problem.stride[0]);
        EXPECT_NO_THROW(expect_plans_hold(problem));
      }
    }
  }
}

// Tensor cores cannot multiply unrounded f32, so the two types need different plans.
TEST_F(CudnnConvolutions, tf32_runs_by_another_plan_than_f32) {
  ConvProblem problem{.dtype = DType::F32,
                      .images = 32,
                      .channels = 64,
                      .size = {28, 28},
                      .out_channels = 64,
                      .kernel = {3, 3},
                      .pad = {1, 1}};
  problem.may_round_to_tf32 = true;
  const std::string rounded = convolutions_->first(problem)->name();
  problem.may_round_to_tf32 = false;
  EXPECT_NE(convolutions_->first(problem)->name(), rounded);
}

// `inspect --plan --card h200` must show the plans that a real H200 uses.
TEST_F(CudnnConvolutions, described_card_has_the_plans_of_the_real_one) {
  const Card card = find_card("h200");
  const std::string name = runtime::find_cuda_devices().devices[0].name;
  if (name != card.name) GTEST_SKIP() << "SKIPPED, described is " << card.name << ", here is " << name;
  const auto described = make_cudnn_convolutions(card.properties);
  for (ConvProblem problem : kProblems) {
    for (const ConvPass pass : kPasses) {
      problem.pass = pass;
      const auto wanted = convolutions_->first(problem), planned = described->first(problem);
      EXPECT_EQ(planned->name(), wanted->name()) << problem.text();
      EXPECT_EQ(planned->workspace_bytes(), wanted->workspace_bytes()) << problem.text();
    }
  }
}

TEST_F(CudnnConvolutions, unknown_plan_is_refused) {
  EXPECT_THROW(static_cast<void>(make_cudnn_convolutions()->plan_named(kProblems[0], "nonsense")), std::exception);
  EXPECT_THROW(static_cast<void>(make_cudnn_convolutions()->plan_named(kProblems[0], "e99999")), std::exception);
}

}  // namespace
}  // namespace roentgen::engine::cuda
