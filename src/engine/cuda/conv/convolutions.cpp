// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cuda/conv/convolutions.h"

namespace roentgen::engine::cuda {

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

double ConvProblem::bytes() const {
  const auto [out_height, out_width] = out_size();
  const std::int64_t src = images * channels * size[0] * size[1];
  const std::int64_t dst = images * out_channels * out_height * out_width;
  const std::int64_t weights = out_channels * (channels / groups) * kernel[0] * kernel[1];
  return static_cast<double>(src + dst + weights) * static_cast<double>(size_of(dtype));
}

}  // namespace roentgen::engine::cuda
