// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of norm_pool.h against their formulas in double, on any device.
#pragma once

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/pool/norm_pool.h"

namespace roentgen::engine::cuda {
namespace pool_testing {

/// Index of an element in an image of this size.
struct Layout {
  int height, width, channels;
  [[nodiscard]] std::size_t at(std::int64_t n, int h, int w, int c) const {
    return static_cast<std::size_t>(((n * height + h) * width + w) * channels + c);
  }
};

/// Calls visit(position in the window, index in x) for every element of a window.
template <typename Visit>
inline void for_window(const PoolShape& shape, const Layout& in, std::int64_t n, int oh, int ow, int c,
                       const Visit& visit) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int h = 2 * oh - 1 + i, w = 2 * ow - 1 + j;
      if (h >= 0 && h < shape.height && w >= 0 && w < shape.width) visit(3 * i + j, in.at(n, h, w, c));
    }
  }
}

/// Result of a naive forward pass.
struct Pooled {
  std::vector<float> y, kept;
  std::vector<std::uint8_t> winner;
};

inline Pooled pooled(const PoolShape& shape, const std::vector<float>& x, const std::vector<float>& scale,
                     const std::vector<float>& shift) {
  const auto count = static_cast<std::size_t>(shape.out_elements());
  Pooled result{std::vector<float>(count), std::vector<float>(count), std::vector<std::uint8_t>(count)};
  const Layout in{shape.height, shape.width, shape.channels};
  const Layout out{shape.out_height(), shape.out_width(), shape.channels};
  for (std::size_t i = 0; i < count; ++i) {
    const int c = static_cast<int>(i % static_cast<std::size_t>(shape.channels));
    const auto pixel = static_cast<std::int64_t>(i) / shape.channels;
    const int ow = static_cast<int>(pixel % out.width), oh = static_cast<int>(pixel / out.width % out.height);
    const float a = scale[static_cast<std::size_t>(c)], b = shift[static_cast<std::size_t>(c)];
    float best = -INFINITY;
    for_window(shape, in, pixel / out.width / out.height, oh, ow, c, [&](int position, std::size_t at) {
      const float key = std::signbit(a) ? -x[at] : x[at];
      if (!(key > best || (key == best && key < 0.0F))) return;
      best = key;
      result.kept[i] = x[at];
      result.winner[i] = static_cast<std::uint8_t>(position);
    });
    result.y[i] = std::max(std::fma(result.kept[i], a, b), 0.0F);
  }
  return result;
}

inline std::vector<double> spread_gradient(const PoolShape& shape, const std::vector<float>& g,
                                           const std::vector<std::uint8_t>& winner, std::size_t count) {
  std::vector<double> sums(count);
  const Layout in{shape.height, shape.width, shape.channels};
  for (std::size_t i = 0; i < g.size(); ++i) {
    const int c = static_cast<int>(i % static_cast<std::size_t>(shape.channels));
    const auto pixel = static_cast<std::int64_t>(i) / shape.channels;
    const int ow = static_cast<int>(pixel % shape.out_width());
    const int oh = static_cast<int>(pixel / shape.out_width() % shape.out_height());
    for_window(shape, in, pixel / shape.out_width() / shape.out_height(), oh, ow, c,
               [&](int position, std::size_t at) { sums[at] += position == winner[i] ? g[i] : 0.0; });
  }
  return sums;
}

}  // namespace pool_testing

/// Checks the backward, and the forward with and without the outputs that backward needs.
[[nodiscard]] inline Worst check_norm_pool(runtime::Device& device, const PoolShape& shape, std::uint32_t seed) {
  Worst worst;
  const auto stream = device.make_stream();
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto count = static_cast<std::size_t>(shape.images * shape.height * shape.width) * channels;
  const auto out_count = static_cast<std::size_t>(shape.out_elements());
  const std::size_t bytes = size_of(shape.type);
  const std::vector<float> x = random_values(shape.type, count, seed),
                           g = random_values(shape.type, out_count, seed + 1);
  const auto numbers = [&](std::uint32_t which) { return random_values(DType::F32, channels, seed + which, 0, 1); };
  const std::vector<float> scale = numbers(2), shift = numbers(3), slope = numbers(4), offset = numbers(5);
  const DeviceArray<float> scales(device, *stream, scale), shifts(device, *stream, shift);
  const DeviceArray<float> slopes(device, *stream, slope), offsets(device, *stream, offset);
  const DeviceArray<std::byte> src(device, *stream, encoded(shape.type, x)),
      diff(device, *stream, encoded(shape.type, g));
  const DeviceArray<std::byte> y(device, *stream, out_count * bytes), kept(device, *stream, out_count * bytes);
  const DeviceArray<std::byte> alone(device, *stream, out_count * bytes), dx(device, *stream, count * bytes);
  const DeviceArray<std::uint8_t> winner(device, *stream, out_count);
  norm_pool(*stream, shape, {src.get(), scales.get(), shifts.get(), y.get(), kept.get(), winner.get()});
  norm_pool(*stream, shape, {src.get(), scales.get(), shifts.get(), alone.get()});
  norm_pool_gradient(*stream, shape,
                     {src.get(), diff.get(), winner.get(), scales.get(), slopes.get(), offsets.get(), dx.get()});

  const pool_testing::Pooled wanted = pool_testing::pooled(shape, x, scale, shift);
  const std::vector<float> got_y = decoded(shape.type, y.read()), got_kept = decoded(shape.type, kept.read());
  const std::vector<float> got_alone = decoded(shape.type, alone.read());
  const std::vector<std::uint8_t> got_winner = winner.read();
  for (std::size_t i = 0; i < out_count; ++i) {
    // One rounding to the type; subnormal f16 values are multiples of 2^-24.
    worst.add("y", i, got_y[i], wanted.y[i], half_ulp(shape.type) * std::abs(wanted.y[i]) + 0x1p-25);
    worst.add("y alone", i, got_alone[i], got_y[i], 0);
    worst.add("kept", i, got_kept[i], wanted.kept[i], 0);
    worst.add("winner", i, got_winner[i], wanted.winner[i], 0);
  }
  const std::vector<double> sums = pool_testing::spread_gradient(shape, g, wanted.winner, count);
  const std::vector<float> got_dx = decoded(shape.type, dx.read());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t c = i % channels;
    const double from_g = scale[c] * sums[i], from_x = double{slope[c]} * x[i], dx_wanted = from_g - from_x + offset[c];
    // The kernel first adds up to four gradients in float32.
    const double bound = 0x1p-21 * (std::abs(from_g) + std::abs(scale[c]) + std::abs(from_x) + std::abs(offset[c]));
    worst.add("dx", i, got_dx[i], dx_wanted, half_ulp(shape.type) * std::abs(dx_wanted) + bound + 0x1p-25);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
