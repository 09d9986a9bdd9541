// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cuda/conv/convolutions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"

namespace roentgen::engine::cuda {
namespace {
constexpr std::array<std::string_view, 3> kPasses{"forward", "data_gradient", "weight_gradient"};
// Number of plans that first() requests. If none of them is deterministic, it requests the second, larger number.
constexpr std::size_t kFewPlans = 8;
constexpr std::size_t kAllPlans = 128;
}  // namespace

std::array<std::int64_t, 2> ConvProblem::out_size() const {
  std::array<std::int64_t, 2> out{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
    out[axis] = (size[axis] + 2 * pad[axis] - reach) / stride[axis] + 1;
  }
  return out;
}

double ConvProblem::flops() const {
  const auto [out_height, out_width] = out_size();
  const double results = static_cast<double>(images * out_channels) * static_cast<double>(out_height * out_width);
  const std::int64_t products = channels / groups * kernel[0] * kernel[1];
  return 2.0 * results * static_cast<double>(products);
}

ConvProblem::Elements ConvProblem::elements() const {
  const auto [out_height, out_width] = out_size();
  return {.src = images * channels * size[0] * size[1],
          .weights = out_channels * (channels / groups) * kernel[0] * kernel[1],
          .dst = images * out_channels * out_height * out_width};
}

double ConvProblem::bytes() const {
  const auto [src, weights, dst] = elements();
  return static_cast<double>(src + weights + dst) * static_cast<double>(size_of(dtype));
}

std::string ConvProblem::text() const {
  const std::string_view type = dtype == DType::F32 && may_round_to_tf32 ? "tf32" : name_of(dtype);
  return fmt::format("{} {} n{} c{} {}x{} o{} k{}x{} s{}x{} p{}x{} d{}x{} g{}",
                     kPasses.at(static_cast<std::size_t>(pass)), type, images, channels, size[0], size[1], out_channels,
                     kernel[0], kernel[1], stride[0], stride[1], pad[0], pad[1], dilation[0], dilation[1], groups);
}

std::unique_ptr<ConvPlan> Convolutions::first(const ConvProblem& problem) {
  for (const std::size_t most : {kFewPlans, kAllPlans}) {
    for (std::unique_ptr<ConvPlan>& plan : plans(problem, most)) {
      if (plan->is_deterministic()) return std::move(plan);
    }
  }
  throw DeviceError(error_text("engine.cuda", "convolution " + problem.text(), "an algorithm with reproducible results",
                               "none from cuDNN", "--dtype f32, or --device cpu"));
}

}  // namespace roentgen::engine::cuda
