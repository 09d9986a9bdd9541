// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of segments.h against their formulas in double, on any device.
#pragma once

#include <numeric>
#include <utility>

#include "engine/cuda/norm/norm_testing.h"
#include "engine/cuda/norm/segments.h"

namespace roentgen::engine::cuda {
namespace segments_testing {
using norm_testing::Bench;
using norm_testing::kFew;

/// Segments of a concatenation, with random values.
struct Segments {
  Segments(const Bench& bench, const std::vector<int>& channels) : counts(channels) {
    std::uint32_t seed = bench.seed + 100;
    const auto rows = static_cast<std::size_t>(bench.shape.rows);
    for (const int count : counts) {
      begins.push_back(total);
      total += count;
      const auto size = static_cast<std::size_t>(count);
      values.push_back(random_values(bench.shape.type, rows * size, ++seed));
      x.push_back(bench.put(values.back()));
      std::vector<float> means = random_values(DType::F32, size, ++seed, 0.3F, 0.1F);
      for (const float var : random_values(DType::F32, size, ++seed, 1.0F, 0.1F)) means.push_back(std::abs(var));
      moments.push_back(std::move(means));
      at_device.push_back(bench.put_channels(moments.back()));
    }
  }
  std::vector<int> counts, begins;
  int total = 0;
  std::vector<std::vector<float>> values, moments;
  std::vector<DeviceArray<std::byte>> x;
  std::vector<DeviceArray<float>> at_device;

  /// Calls visit(segment, channel of the segment, channel of the concatenation) for every channel.
  template <typename Visit>
  void for_channels(const Visit& visit) const {
    for (std::size_t s = 0; s < counts.size(); ++s) {
      for (int c = 0; c < counts[s]; ++c)
        visit(s, static_cast<std::size_t>(c), static_cast<std::size_t>(begins[s] + c));
    }
  }
};

inline void check_moments(const Bench& bench, Worst& worst) {
  const std::vector<float> x = bench.values(1);
  const auto src = bench.put(x);
  const DeviceArray<float> moments(bench.device, bench.stream, 2 * bench.channels());
  const norm_testing::Scratch scratch(bench);
  norm_moments(bench.stream, bench.shape, src.get(), moments.get(), scratch.get());
  const std::vector<float> got = moments.read();
  const double rows = static_cast<double>(bench.shape.rows), tolerance = norm_testing::sum_tolerance(bench.shape);
  for (std::size_t c = 0; c < bench.channels(); ++c) {
    double sum = 0.0, square = 0.0, size = 0.0, size2 = 0.0;
    for (std::size_t i = c; i < x.size(); i += bench.channels()) sum += x[i], size += std::abs(x[i] - x[c]);
    for (std::size_t i = c; i < x.size(); i += bench.channels()) {
      square += (x[i] - sum / rows) * (x[i] - sum / rows);
      size2 += (x[i] - x[c]) * (x[i] - x[c]);
    }
    worst.add("mean", c, got[c], sum / rows, tolerance * size / rows + kFew * std::abs(sum / rows));
    worst.add("variance", c, got[bench.channels() + c], square / rows,
              3 * tolerance * size2 / rows + kFew * square / rows);
  }
}

/// Checks the forward. `folds`: training, where the kernel computes scale and shift; else inference, where they are
/// inputs.
inline void check_apply(const Bench& bench, const Segments& segments, bool folds, bool relu, Worst& worst) {
  const auto width = static_cast<std::size_t>(segments.total), rows = static_cast<std::size_t>(bench.shape.rows);
  const std::vector<float> gamma = random_values(DType::F32, width, bench.seed + 6, 1, 0.3F);
  const std::vector<float> beta = random_values(DType::F32, width, bench.seed + 7, 0, 0.5F);
  const std::vector<float> running = random_values(DType::F32, width, bench.seed + 8, 1, 0.2F);
  const auto gammas = bench.put_channels(gamma), betas = bench.put_channels(beta);
  const auto running_mean = bench.put_channels(running), running_var = bench.put_channels(running);
  const DeviceArray<float> scales =
      folds ? DeviceArray<float>(bench.device, bench.stream, width) : bench.put_channels(gamma);
  const DeviceArray<float> shifts =
      folds ? DeviceArray<float>(bench.device, bench.stream, width) : bench.put_channels(beta);
  const DeviceArray<std::byte> y(bench.device, bench.stream, rows * width * size_of(bench.shape.type));
  std::vector<NormSegment> list;
  for (std::size_t s = 0; s < segments.counts.size(); ++s) {
    list.push_back(
        {segments.x[s].get(), folds ? segments.at_device[s].get() : nullptr, segments.counts[s], segments.begins[s]});
  }
  NormShape shape = bench.shape;
  shape.channels = segments.total;
  norm_segments_apply(bench.stream, shape,
                      {.segments = list,
                       .gamma = folds ? gammas.get() : nullptr,
                       .beta = betas.get(),
                       .running = {.mean = running_mean.get(), .var = running_var.get()},
                       .scale = scales.get(),
                       .shift = shifts.get(),
                       .y = y.get(),
                       .relu = relu});
  const std::vector<float> got = decoded(bench.shape.type, y.read()), scale = scales.read(), shift = shifts.read();
  const std::vector<float> got_mean = running_mean.read(), got_var = running_var.read();
  const auto count_of_rows = static_cast<double>(rows);
  segments.for_channels([&](std::size_t s, std::size_t c, std::size_t at) {
    const auto count = static_cast<std::size_t>(segments.counts[s]);
    const double mean = segments.moments[s][c], var = segments.moments[s][count + c];
    if (folds) {
      const double wanted = gamma[at] / std::sqrt(var + 1e-5),
                   moved = rows > 1 ? var * count_of_rows / (count_of_rows - 1.0) : var;
      worst.add("scale", at, scale[at], wanted, kFew * std::abs(wanted));
      worst.add("shift", at, shift[at], beta[at] - mean * wanted,
                kFew * (std::abs(beta[at]) + std::abs(mean * wanted)));
      worst.add("running mean", at, got_mean[at], running[at] + 0.1 * (mean - running[at]),
                kFew * (1 + std::abs(mean)));
      worst.add("running var", at, got_var[at], running[at] + 0.1 * (moved - running[at]), kFew * (1 + moved));
    } else {
      worst.add("untouched running mean", at, got_mean[at], running[at], 0);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const double product = double{segments.values[s][row * count + c]} * scale[at];
      double wanted = product + shift[at];
      const double near = kFew * (std::abs(product) + std::abs(shift[at]));
      if (relu) wanted = std::max(wanted, 0.0);
      worst.add("y", row * width + at, got[row * width + at], wanted,
                half_ulp(bench.shape.type) * std::abs(wanted) + near + 0x1p-25);
    }
  });
}

/// One norm of a backward pass. Its concatenation begins with `gap` channels that do not belong to the segments.
struct Norm {
  Norm(const Bench& bench, const Segments& segments, int gap, bool relu_, std::uint32_t which)
      : offset(static_cast<std::size_t>(gap)),
        channels(static_cast<std::size_t>(segments.total + gap)),
        relu(relu_),
        dy(random_values(bench.shape.type, static_cast<std::size_t>(bench.shape.rows) * channels, bench.seed + which)),
        scale(random_values(DType::F32, channels, bench.seed + which + 1, 1, 0.5F)),
        shift(random_values(DType::F32, channels, bench.seed + which + 2, 0, 0.5F)),
        diff(bench.put(dy)),
        scales(bench.put_channels(scale)),
        shifts(bench.put_channels(shift)),
        dgamma(bench.device, bench.stream, channels),
        dbeta(bench.device, bench.stream, channels) {}
  [[nodiscard]] NormSegmentsGradient get() const {
    return {.dy = diff.get(),
            .channels = static_cast<int>(channels),
            .scale = scales.get(),
            .shift = shifts.get(),
            .dgamma = dgamma.get(),
            .dbeta = dbeta.get(),
            .relu = relu};
  }
  std::size_t offset, channels;
  bool relu;
  std::vector<float> dy, scale, shift;
  DeviceArray<std::byte> diff;
  DeviceArray<float> scales, shifts, dgamma, dbeta;
};

/// Sums of one channel of a norm, and the same sums of absolute terms for error bounds.
struct Sums {
  double sum = 0.0, product = 0.0, size = 0.0, product_size = 0.0;
};

/// Runs a backward pass with one norm or two and keeps its results. The first segment needs no gradient. Every second
/// segment is overwritten (is_first); the others are added to.
struct Backward {
  Backward(const Bench& bench_, const Segments& segments_, int norm_count) : bench(bench_), segments(segments_) {
    norms.emplace_back(bench, segments, 0, true, 200U);
    if (norm_count == 2) norms.emplace_back(bench, segments, kGap, false, 300U);
    for (std::size_t s = 0; s < segments.counts.size(); ++s) add_segment(s);
    run();
  }
  static constexpr int kGap = 24;  ///< channels before the segments in the second norm

  void add_segment(std::size_t s) {
    const std::size_t count = static_cast<std::size_t>(segments.counts[s]), elements = rows() * count;
    const auto seed = bench.seed + 400 + static_cast<std::uint32_t>(s);
    const bool is_first = s % 2 == 1;
    before.push_back(random_values(bench.shape.type, elements, seed));
    slopes_before.push_back(random_values(DType::F32, 2 * count, seed, 0, 0.1F));
    // If is_first, the kernel must not read the sum: it stays filled with NaN.
    sums.push_back(is_first ? DeviceArray<std::byte>(bench.device, bench.stream, elements * size_of(bench.shape.type))
                            : bench.put(before.back()));
    slopes.push_back(is_first ? DeviceArray<float>(bench.device, bench.stream, 2 * count)
                              : bench.put_channels(slopes_before.back()));
    list.push_back({.x = segments.x[s].get(),
                    .moments = segments.at_device[s].get(),
                    .sum = s == 0 ? nullptr : sums.back().get(),
                    .slopes = s == 0 ? nullptr : slopes.back().get(),
                    .channels = segments.counts[s],
                    .begin = {segments.begins[s], segments.begins[s] + kGap},
                    .is_first = is_first});
    if (is_first) std::ranges::fill(before.back(), 0.0F), std::ranges::fill(slopes_before.back(), 0.0F);
  }
  void run() {
    NormShape shape = bench.shape;
    shape.channels = segments.total;
    const auto norm_count = static_cast<int>(norms.size());
    const DeviceArray<float> partials(bench.device, bench.stream, norm_segments_partials(shape, norm_count));
    const DeviceArray<unsigned> all(bench.device, bench.stream,
                                    std::vector<unsigned>(norm_segments_counters(shape, norm_count)));
    NormSegmentsBackward work{.segments = list, .norm_count = norm_count};
    for (std::size_t i = 0; i < norms.size(); ++i) work.norms.at(i) = norms[i].get();
    norm_segments_backward(bench.stream, shape, work, {partials.get(), all.get()});
    counters = all.read();
    for (const DeviceArray<std::byte>& sum : sums) got_sums.push_back(decoded(shape.type, sum.read()));
    for (const DeviceArray<float>& slope : slopes) got_slopes.push_back(slope.read());
    for (const Norm& norm : norms) got_dgamma.push_back(norm.dgamma.read()), got_dbeta.push_back(norm.dbeta.read());
  }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(bench.shape.rows); }

  const Bench& bench;
  const Segments& segments;
  std::vector<Norm> norms;
  std::vector<SegmentGradient> list;
  std::vector<std::vector<float>> before, slopes_before;
  std::vector<DeviceArray<std::byte>> sums;
  std::vector<DeviceArray<float>> slopes;
  std::vector<std::vector<float>> got_sums, got_slopes, got_dgamma, got_dbeta;
  std::vector<unsigned> counters;
};

/// Checks G of one channel. Returns the sums of each norm for it.
inline std::vector<Sums> check_sums(const Backward& work, std::size_t s, std::size_t c, std::size_t at, Worst& worst) {
  const auto count = static_cast<std::size_t>(work.segments.counts[s]);
  const double mean = work.segments.moments[s][c];
  std::vector<Sums> of_norms(work.norms.size());
  for (std::size_t row = 0; row < work.rows(); ++row) {
    const float x = work.segments.values[s][row * count + c];
    double total = work.before[s][row * count + c], size = std::abs(total);
    for (std::size_t i = 0; i < work.norms.size(); ++i) {
      const Norm& norm = work.norms[i];
      const std::size_t channel = norm.offset + at;
      double g = norm.dy[row * norm.channels + channel];
      // The kernel computes scale * x + shift with one rounding, as std::fma does.
      if (norm.relu && !(std::fma(x, norm.scale[channel], norm.shift[channel]) > 0.0F)) g = 0.0;
      const double term = g * (x - mean);
      of_norms[i].sum += g, of_norms[i].size += std::abs(g);
      of_norms[i].product += term, of_norms[i].product_size += std::abs(term);
      total += norm.scale[channel] * g, size += std::abs(norm.scale[channel] * g);
    }
    if (s == 0) continue;
    worst.add("G", row * count + c, work.got_sums[s][row * count + c], total,
              half_ulp(work.bench.shape.type) * std::abs(total) + kFew * size + 0x1p-25);
  }
  return of_norms;
}

inline void check_channel(const Backward& work, std::size_t s, std::size_t c, std::size_t at, Worst& worst) {
  const auto count = static_cast<std::size_t>(work.segments.counts[s]);
  const double mean = work.segments.moments[s][c], var = work.segments.moments[s][count + c];
  const double inv_std = 1.0 / std::sqrt(var + 1e-5), rows = static_cast<double>(work.bench.shape.rows);
  const double tolerance = norm_testing::sum_tolerance(work.bench.shape) + kFew;
  const std::vector<Sums> of_norms = check_sums(work, s, c, at, worst);
  double slope = work.slopes_before[s][c], offset = work.slopes_before[s][count + c];
  double slope_bound = kFew * std::abs(slope), offset_bound = kFew * std::abs(offset);
  for (std::size_t i = 0; i < of_norms.size(); ++i) {
    const std::size_t channel = work.norms[i].offset + at;
    const Sums& sum = of_norms[i];
    const double sum_bound = tolerance * sum.size, product_bound = 2 * tolerance * sum.product_size;
    worst.add("dbeta", channel, work.got_dbeta[i][channel], sum.sum, sum_bound);
    worst.add("dgamma", channel, work.got_dgamma[i][channel], sum.product * inv_std,
              inv_std * (product_bound + kFew * std::abs(sum.product)));
    const double scale = work.norms[i].scale[channel], factor = scale * inv_std * inv_std / rows;
    const double here = std::abs(factor) * (product_bound + 4 * kFew * std::abs(sum.product));
    slope += factor * sum.product, slope_bound += here;
    offset += factor * sum.product * mean - scale * sum.sum / rows;
    offset_bound += here * std::abs(mean) + std::abs(scale) * sum_bound / rows;
  }
  if (s == 0) return;
  worst.add("slope", at, work.got_slopes[s][c], slope, slope_bound + kFew * std::abs(slope));
  worst.add("offset", at, work.got_slopes[s][count + c], offset, offset_bound + kFew * std::abs(offset));
}

inline void check_backward(const Bench& bench, const Segments& segments, int norm_count, Worst& worst) {
  const Backward work(bench, segments, norm_count);
  segments.for_channels([&](std::size_t s, std::size_t c, std::size_t at) { check_channel(work, s, c, at, worst); });
  for (const unsigned counter : work.counters) worst.add("counter", 0, counter, 0, 0);
}

}  // namespace segments_testing

/// Checks moments, forward and every kind of backward for segments with these channels. Ignores `shape.channels`.
[[nodiscard]] inline Worst check_norm_segments(runtime::Device& device, NormShape shape,
                                               const std::vector<int>& channels, std::uint32_t seed) {
  Worst worst;
  const auto stream = device.make_stream();
  shape.channels = channels.back();
  const norm_testing::Bench bench{device, *stream, shape, seed};
  segments_testing::check_moments(bench, worst);
  const segments_testing::Segments segments(bench, channels);
  for (const bool folds : {false, true}) {
    for (const bool relu : {false, true}) segments_testing::check_apply(bench, segments, folds, relu, worst);
  }
  for (const int norms : {1, 2}) segments_testing::check_backward(bench, segments, norms, worst);
  return worst;
}

}  // namespace roentgen::engine::cuda
