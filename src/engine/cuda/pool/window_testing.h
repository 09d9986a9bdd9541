// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of window.h against their formulas in double, on any device.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/pool/window.h"
#include "graph/ops/adaptive_avg_pool.h"

namespace roentgen::engine::cuda {
namespace window_testing {

/// Pixels [begin, end) along one axis, and the first pixel of the window, which may be padding.
struct Span {
  std::int64_t begin, end, first;
};
inline Span span_of(PoolOp op, const PoolAxis& axis, int o) {
  if (op == PoolOp::Region) {
    const graph::Region region = graph::region(o, axis.out, axis.size);
    return {region.begin, region.end, region.begin};
  }
  const std::int64_t first = std::int64_t{o} * axis.stride - axis.pad;
  return {std::max<std::int64_t>(first, 0), std::min<std::int64_t>(first + axis.kernel, axis.size), first};
}

/// Result of a naive forward and backward pass. `size` and `diff_size` are sums of magnitudes, for bounds.
struct Pooled {
  std::vector<double> dst, size, diff_src, diff_size;
  std::vector<std::int64_t> winner;
};

inline Pooled pooled(const Pooling& p, const std::vector<float>& src, const std::vector<float>& diff_dst) {
  Pooled result;
  result.diff_src.resize(src.size()), result.diff_size.resize(src.size());
  for (std::size_t i = 0; i < diff_dst.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t c = at % p.channels, pixel = at / p.channels, image = pixel / p.width.out / p.height.out;
    const Span columns = span_of(p.op, p.width, static_cast<int>(pixel % p.width.out));
    const Span rows = span_of(p.op, p.height, static_cast<int>(pixel / p.width.out % p.height.out));
    const auto index = [&](std::int64_t h, std::int64_t w) {
      return static_cast<std::size_t>(((image * p.height.size + h) * p.width.size + w) * p.channels + c);
    };
    const std::int64_t inside = (rows.end - rows.begin) * (columns.end - columns.begin);
    const double share =
        1.0 / static_cast<double>(p.op == PoolOp::AverageWithPad ? p.height.kernel * p.width.kernel : inside);
    double sum = 0.0, size = 0.0, best = -INFINITY;
    std::int64_t winner = 0;
    std::size_t from = 0;
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      for (std::int64_t w = columns.begin; w < columns.end; ++w) {
        const double value = src[index(h, w)];
        sum += value * share, size += std::abs(value) * share;
        if (value > best || std::isnan(value)) {
          best = value, winner = (h - rows.first) * p.width.kernel + (w - columns.first), from = index(h, w);
        }
        if (p.op == PoolOp::Max) continue;
        result.diff_src[index(h, w)] += diff_dst[i] * share;
        result.diff_size[index(h, w)] += std::abs(diff_dst[i]) * share;
      }
    }
    const bool is_max = p.op == PoolOp::Max;
    if (is_max) result.diff_src[from] += diff_dst[i], result.diff_size[from] += std::abs(diff_dst[i]);
    result.dst.push_back(is_max ? best : sum), result.size.push_back(is_max ? 0.0 : size);
    result.winner.push_back(winner);
  }
  return result;
}

inline void check_pooling(runtime::Device& device, const Pooling& p, std::uint32_t seed, Worst& worst) {
  const auto stream = device.make_stream();
  const auto count = static_cast<std::size_t>(p.images * p.height.size * p.width.size * p.channels);
  const auto out = static_cast<std::size_t>(p.out_elements());
  std::vector<float> src = random_values(p.type, count, seed);
  for (float& value : src) value = std::round(4.0F * value) / 4.0F;  // so that windows have several maxima
  for (std::size_t i = 5; p.op == PoolOp::Max && i < count; i += 37) src[i] = std::nanf("");
  const std::vector<float> diff_dst = random_values(p.type, out, seed + 1);
  const DeviceArray<std::byte> on_src(device, *stream, encoded(p.type, src));
  const DeviceArray<std::byte> on_diff(device, *stream, encoded(p.type, diff_dst));
  const DeviceArray<std::byte> dst(device, *stream, out * size_of(p.type)),
      alone(device, *stream, out * size_of(p.type));
  const DeviceArray<std::byte> winner(device, *stream, out * p.winner_bytes());
  const DeviceArray<std::byte> diff_src(device, *stream, count * size_of(p.type));
  std::byte* const winners = p.op == PoolOp::Max ? winner.get() : nullptr;
  pool(*stream, p, on_src.get(), dst.get(), winners);
  pool(*stream, p, on_src.get(), alone.get(), nullptr);
  pool_gradient(*stream, p, on_diff.get(), winners, diff_src.get());
  const Pooled wanted = pooled(p, src, diff_dst);
  const std::vector<float> got = decoded(p.type, dst.read()), got_alone = decoded(p.type, alone.read());
  const std::vector<float> got_diff = decoded(p.type, diff_src.read());
  const std::vector<std::byte> got_winner = winner.read();
  // Float32 sums of up to 300 values, then one rounding. Subnormal f16 values are multiples of 2^-24.
  const auto bound = [&](double value, double size) {
    return 300 * 0x1p-24 * size + half_ulp(p.type) * std::abs(value) + (size > 0.0 ? 0x1p-25 : 0.0);
  };
  for (std::size_t i = 0; i < out; ++i) {
    if (std::isnan(wanted.dst[i])) {
      worst.add("pooled NaN", i, std::isnan(got[i]) && std::isnan(got_alone[i]) ? 1.0 : 0.0, 1.0, 0.0);
    } else {
      worst.add("pooled", i, got[i], wanted.dst[i], bound(wanted.dst[i], wanted.size[i]));
      worst.add("pooled without winners", i, got_alone[i], got[i], 0.0);
    }
    if (p.op != PoolOp::Max) continue;
    std::uint16_t number = 0;
    std::memcpy(&number, got_winner.data() + i * p.winner_bytes(), p.winner_bytes());
    worst.add("winner", i, number, static_cast<double>(wanted.winner[i]), 0.0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    worst.add("gradient of pooling", i, got_diff[i], wanted.diff_src[i],
              bound(wanted.diff_src[i], wanted.diff_size[i]));
  }
}

}  // namespace window_testing

/// Checks every kind of pooling, with windows that overlap, that lie partly in the padding, and that have more than 256
/// pixels.
[[nodiscard]] inline Worst check_window(runtime::Device& device) {
  Worst worst;
  const PoolAxis overlapping{.size = 9, .out = 5, .kernel = 3, .stride = 2, .pad = 1};
  const PoolAxis disjoint{.size = 8, .out = 4, .kernel = 2, .stride = 2};
  const PoolAxis large{.size = 19, .out = 2, .kernel = 17, .stride = 2};
  const PoolAxis regions{.size = 7, .out = 3}, whole{.size = 6, .out = 1};
  struct Case {
    PoolOp op;
    PoolAxis height, width;
    std::int64_t channels;
  };
  const Case cases[] = {{PoolOp::Max, overlapping, disjoint, 24},
                        {PoolOp::Max, large, large, 8},
                        {PoolOp::AverageWithPad, overlapping, overlapping, 16},
                        {PoolOp::AverageWithoutPad, overlapping, disjoint, 8},
                        {PoolOp::Region, regions, whole, 40}};
  for (const DType type : {DType::Bf16, DType::F16, DType::F32}) {
    for (const Case& each : cases) {
      window_testing::check_pooling(device, {each.op, type, 2, each.channels, each.height, each.width}, 3, worst);
    }
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
