// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks scale_from_running() against its formula in double, on any device.
#pragma once

#include <cmath>

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/norm/running.h"

namespace roentgen::engine::cuda {

/// Checks 300 channels, which are three blocks.
[[nodiscard]] inline Worst check_running(runtime::Device& device) {
  Worst worst;
  constexpr std::size_t kChannels = 300;
  const auto stream = device.make_stream();
  const auto numbers = [](std::uint32_t seed, float mean) {
    return random_values(DType::F32, kChannels, seed, mean, 0.2F);
  };
  const std::vector<float> gamma = numbers(1, 1.0F), beta = numbers(2, 0.0F), mean = numbers(3, 0.5F);
  const std::vector<float> var = numbers(4, 1.0F);  // 0.4 to 1.6
  const DeviceArray<float> on_gamma(device, *stream, gamma), on_beta(device, *stream, beta);
  const DeviceArray<float> on_mean(device, *stream, mean), on_var(device, *stream, var);
  const DeviceArray<float> scale(device, *stream, kChannels), shift(device, *stream, kChannels);
  scale_from_running(*stream, {on_gamma.get(), on_beta.get(), on_mean.get(), on_var.get(), 1e-3,
                               static_cast<int>(kChannels), scale.get(), shift.get()});
  const std::vector<float> got_scale = scale.read(), got_shift = shift.read();
  for (std::size_t c = 0; c < kChannels; ++c) {
    const double wanted = gamma[c] / std::sqrt(double{var[c]} + 1e-3), product = double{mean[c]} * wanted;
    // 1 / sqrt() is rounded to float32, then multiplied in float32.
    worst.add("scale", c, got_scale[c], wanted, 0x1p-22 * std::abs(wanted));
    worst.add("shift", c, got_shift[c], beta[c] - product, 0x1p-21 * (std::abs(product) + std::abs(beta[c])));
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
