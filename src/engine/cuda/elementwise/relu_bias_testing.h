// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks relu_bias_gradient() against its formula in double, on any device.
#pragma once

#include "engine/cuda/elementwise/relu_bias.h"
#include "engine/cuda/norm/norm_testing.h"

namespace roentgen::engine::cuda {

/// Checks gradient and sums for random results and gradients, written to new memory and over dy.
[[nodiscard]] inline Worst check_relu_bias(runtime::Device& device, const NormShape& shape, std::uint32_t seed) {
  const auto stream = device.make_stream();
  const norm_testing::Bench bench{device, *stream, shape, seed};
  const norm_testing::Scratch scratch(bench);
  const std::vector<float> y = bench.values(1), dy = bench.values(2);
  const auto on_y = bench.put(y);
  Worst worst;
  for (const bool is_in_place : {false, true}) {
    const auto on_dy = bench.put(dy), target = bench.poisoned();
    const auto sums = bench.poisoned_channels();
    const auto& dx = is_in_place ? on_dy : target;
    relu_bias_gradient(*stream, shape, {on_y.get(), on_dy.get(), dx.get(), sums.get()}, scratch.get());
    const std::vector<float> got = decoded(shape.type, dx.read()), got_sums = sums.read();
    const std::size_t channels = bench.channels();
    std::vector<double> wanted(channels), magnitudes(channels);
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const float g = y[i] > 0.0F ? dy[i] : 0.0F;
      worst.add("dx", i, got[i], g, 0.0);
      wanted[i % channels] += g;
      magnitudes[i % channels] += std::abs(g);
    }
    // Each float32 addition rounds by at most 2^-24 of a partial sum, and a thread adds at most `rows` values in turn.
    const double bound = 0x1p-24 * static_cast<double>(shape.rows);
    for (std::size_t c = 0; c < channels; ++c) worst.add("sums", c, got_sums[c], wanted[c], bound * magnitudes[c]);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
