// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the norm kernels against their formulas in double, on any device.
#pragma once

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/norm/norm.h"

namespace roentgen::engine::cuda {
namespace norm_testing {

// Relative bound of a sum over the rows. Each float32 addition is off by at most half an ulp. No chain of additions is
// longer than the number in brackets.
inline double sum_tolerance(const NormShape& shape) { return 0x1p-24 * (static_cast<double>(shape.rows) / 64 + 600); }
// Relative bound for a few float32 operations on terms of this size.
inline constexpr double kFew = 0x1p-22;

/// Device, stream and shape of a check, and helpers to create its arrays.
struct Bench {
  runtime::Device& device;
  runtime::Stream& stream;
  NormShape shape;
  std::uint32_t seed;

  [[nodiscard]] std::size_t channels() const { return static_cast<std::size_t>(shape.channels); }
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(shape.rows) * channels(); }
  [[nodiscard]] std::vector<float> values(std::uint32_t which) const {
    return random_values(shape.type, elements(), seed + which);
  }
  [[nodiscard]] std::vector<float> per_channel(std::uint32_t which, float mean, float deviation) const {
    return random_values(DType::F32, channels(), seed + which, mean, deviation);
  }
  [[nodiscard]] std::vector<std::uint8_t> random_bits() const {
    std::vector<std::uint8_t> bits(elements() / 8);
    Random random(seed, RandomStage::Test);
    for (std::uint8_t& byte : bits) byte = static_cast<std::uint8_t>(random.next_u32());
    return bits;
  }
  [[nodiscard]] DeviceArray<std::byte> put(const std::vector<float>& values) const {
    return {device, stream, encoded(shape.type, values)};
  }
  [[nodiscard]] DeviceArray<std::byte> poisoned() const { return {device, stream, elements() * size_of(shape.type)}; }
  [[nodiscard]] DeviceArray<float> put_channels(const std::vector<float>& values) const {
    return {device, stream, values};
  }
  [[nodiscard]] DeviceArray<float> poisoned_channels() const { return {device, stream, channels()}; }
};

/// Scratch memory for the sums of a norm.
struct Scratch {
  explicit Scratch(const Bench& bench)
      : partials(bench.device, bench.stream, norm_partials(bench.shape)),
        counters(bench.device, bench.stream, std::vector<unsigned>(norm_counters(bench.shape))) {}
  [[nodiscard]] NormScratch get() const { return {partials.get(), counters.get()}; }
  DeviceArray<float> partials;
  DeviceArray<unsigned> counters;
};

inline void check_statistics(const Bench& bench, Worst& worst) {
  const std::vector<float> x = bench.values(1), gamma = bench.per_channel(2, 1, 0.2F);
  const std::vector<float> beta = bench.per_channel(3, 0, 0.5F), running = bench.per_channel(4, 1, 0.2F);
  const auto src = bench.put(x);
  const auto gammas = bench.put_channels(gamma), betas = bench.put_channels(beta);
  const auto running_mean = bench.put_channels(running), running_var = bench.put_channels(running);
  const auto mean = bench.poisoned_channels(), inv_std = bench.poisoned_channels();
  const auto scale = bench.poisoned_channels(), shift = bench.poisoned_channels();
  const Scratch scratch(bench);
  const NormRunning r{.mean = running_mean.get(), .var = running_var.get()};
  norm_statistics(bench.stream, bench.shape, src.get(),
                  {gammas.get(), betas.get(), mean.get(), inv_std.get(), scale.get(), shift.get()}, r, scratch.get());
  const std::vector<float> got_mean = mean.read(), got_inv = inv_std.read(), got_scale = scale.read();
  const std::vector<float> got_shift = shift.read(), got_rm = running_mean.read(), got_rv = running_var.read();
  const double rows = static_cast<double>(bench.shape.rows), tolerance = sum_tolerance(bench.shape);
  const std::size_t channels = bench.channels();
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0.0, square = 0.0, size = 0.0, size2 = 0.0;
    for (std::size_t i = c; i < x.size(); i += channels) sum += x[i];
    const double m = sum / rows;
    for (std::size_t i = c; i < x.size(); i += channels) {
      square += (x[i] - m) * (x[i] - m);
      size += std::abs(x[i] - x[c]);
      size2 += (x[i] - x[c]) * (x[i] - x[c]);
    }
    const double var = square / rows, inv = 1.0 / std::sqrt(var + double{r.epsilon});
    const double mean_bound = tolerance * size / rows + kFew * std::abs(m);
    const double var_bound = 3.0 * tolerance * size2 / rows + kFew * var;
    const double inv_bound = inv * (0.5 * var_bound * inv * inv + kFew);
    worst.add("mean", c, got_mean[c], m, mean_bound);
    worst.add("inv_std", c, got_inv[c], inv, inv_bound);
    worst.add("scale", c, got_scale[c], gamma[c] * inv, std::abs(gamma[c]) * inv_bound + kFew);
    worst.add("shift", c, got_shift[c], beta[c] - m * gamma[c] * inv,
              std::abs(gamma[c]) * (inv * mean_bound + std::abs(m) * inv_bound) + 4 * kFew);
    const double unbiased = rows > 1 ? var * rows / (rows - 1) : var;
    worst.add("running mean", c, got_rm[c], running[c] + 0.1 * (m - running[c]), mean_bound + kFew * (1 + std::abs(m)));
    worst.add("running var", c, got_rv[c], running[c] + 0.1 * (unbiased - running[c]),
              var_bound * unbiased / (var > 0 ? var : 1) + kFew * (1 + unbiased));
  }
  for (const unsigned counter : scratch.counters.read()) worst.add("counter", 0, counter, 0, 0);
}

inline void check_apply(const Bench& bench, bool relu, int residual_kind, bool keeps_bits, Worst& worst) {
  const std::vector<float> x = bench.values(1), residual = bench.values(5);
  const std::vector<float> scale = bench.per_channel(6, 0, 1), shift = bench.per_channel(7, 0, 1);
  const std::vector<float> scale2 = bench.per_channel(8, 1, 1), shift2 = bench.per_channel(9, 0, 1);
  const auto src = bench.put(x), src2 = bench.put(residual), y = bench.poisoned();
  const auto scales = bench.put_channels(scale), shifts = bench.put_channels(shift);
  const auto scales2 = bench.put_channels(scale2), shifts2 = bench.put_channels(shift2);
  const DeviceArray<std::uint8_t> passed(bench.device, bench.stream, bench.elements() / 8);
  norm_apply(bench.stream, bench.shape,
             {.x = src.get(),
              .residual = residual_kind > 0 ? src2.get() : nullptr,
              .residual_scale = residual_kind > 1 ? scales2.get() : nullptr,
              .residual_shift = residual_kind > 1 ? shifts2.get() : nullptr,
              .scale = scales.get(),
              .shift = shifts.get(),
              .y = y.get(),
              .passed = keeps_bits ? passed.get() : nullptr,
              .relu = relu});
  const std::vector<float> got = decoded(bench.shape.type, y.read());
  const std::vector<std::uint8_t> bits = passed.read();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % bench.channels();
    double wanted = double{x[i]} * scale[c] + shift[c], size = std::abs(double{x[i]} * scale[c]) + std::abs(shift[c]);
    if (residual_kind == 1) wanted += residual[i], size += std::abs(residual[i]);
    if (residual_kind == 2) {
      wanted += double{residual[i]} * scale2[c] + shift2[c];
      size += std::abs(double{residual[i]} * scale2[c]) + std::abs(shift2[c]);
    }
    const double near = kFew * size;
    if (keeps_bits && std::abs(wanted) > near) worst.add("passed", i, bits[i / 8] >> i % 8 & 1, wanted > 0 ? 1 : 0, 0);
    if (relu) wanted = std::max(wanted, 0.0);
    // Denormal f16 values are rounded to multiples of 2^-24.
    worst.add("y", i, got[i], wanted, half_ulp(bench.shape.type) * std::abs(wanted) + near + 0x1p-25);
  }
  if (!keeps_bits) worst.add("untouched bits", 0, bits[0], 0xFF, 0);
}

inline void check_sums(const Bench& bench, NormMask mask, bool has_second, bool is_written, Worst& worst) {
  const std::vector<float> x = bench.values(1), dy = bench.values(11), second = bench.values(12);
  const std::vector<float> mean = bench.per_channel(13, 0.3F, 0.1F), inv_std = bench.per_channel(14, 1, 0.1F);
  const std::vector<float> scale = bench.per_channel(15, 1, 0.5F), shift = bench.per_channel(16, 0, 0.5F);
  const auto src = bench.put(x), diff = bench.put(dy), diff2 = bench.put(second), masked = bench.poisoned();
  const auto means = bench.put_channels(mean), invs = bench.put_channels(inv_std);
  const auto scales = bench.put_channels(scale), shifts = bench.put_channels(shift);
  const auto dgamma = bench.poisoned_channels(), dbeta = bench.poisoned_channels();
  const auto slope = bench.poisoned_channels(), offset = bench.poisoned_channels();
  const std::vector<std::uint8_t> bits = bench.random_bits();
  const DeviceArray<std::uint8_t> passed(bench.device, bench.stream, bits);
  const Scratch scratch(bench);
  const double count = static_cast<double>(3 * bench.shape.rows);
  norm_gradient_sums(bench.stream, bench.shape,
                     {.mask = mask,
                      .x = src.get(),
                      .dy = diff.get(),
                      .second = has_second ? diff2.get() : nullptr,
                      .passed = mask == NormMask::Bits ? passed.get() : nullptr,
                      .masked = is_written ? masked.get() : nullptr,
                      .mean = means.get(),
                      .inv_std = invs.get(),
                      .scale = scales.get(),
                      .shift = shifts.get(),
                      .dgamma = dgamma.get(),
                      .dbeta = dbeta.get(),
                      .slope = slope.get(),
                      .offset = offset.get(),
                      .count = 3 * bench.shape.rows},
                     scratch.get());
  const std::vector<float> got_g = decoded(bench.shape.type, masked.read()), got_dgamma = dgamma.read();
  const std::vector<float> got_dbeta = dbeta.read(), got_slope = slope.read(), got_offset = offset.read();
  for (std::size_t c = 0; c < bench.channels(); ++c) {
    double sum = 0.0, product = 0.0, size = 0.0, product_size = 0.0;
    for (std::size_t i = c; i < x.size(); i += bench.channels()) {
      float g = has_second ? dy[i] + second[i] : dy[i];
      // The kernel computes scale * x + shift with one rounding, as std::fma does.
      if (mask == NormMask::Recomputed && !(std::fma(x[i], scale[c], shift[c]) > 0.0F)) g = 0.0F;
      if (mask == NormMask::Bits && (bits[i / 8] >> i % 8 & 1) == 0) g = 0.0F;
      if (is_written) {
        g = rounded_to(bench.shape.type, g);
        worst.add("masked", i, got_g[i], g, 0);
      }
      const double term = g * (double{x[i]} - mean[c]);
      sum += g, product += term;
      size += std::abs(g), product_size += std::abs(term);
    }
    const double tolerance = sum_tolerance(bench.shape) + kFew;
    const double sum_bound = tolerance * size, product_bound = 2 * tolerance * product_size;
    worst.add("dbeta", c, got_dbeta[c], sum, sum_bound);
    worst.add("dgamma", c, got_dgamma[c], product * inv_std[c], std::abs(inv_std[c]) * product_bound + kFew);
    const double factor = double{scale[c]} * inv_std[c] * inv_std[c] / count;
    const double slope_bound = std::abs(factor) * (product_bound + kFew * std::abs(product));
    worst.add("slope", c, got_slope[c], factor * product, slope_bound + 0x1p-60);
    const double from_sum = scale[c] * sum / count;
    worst.add("offset", c, got_offset[c], factor * product * mean[c] - from_sum,
              slope_bound * std::abs(mean[c]) + std::abs(scale[c]) * sum_bound / count +
                  kFew * (std::abs(factor * product * mean[c]) + std::abs(from_sum)) + 0x1p-60);
  }
}

inline void check_gradient(const Bench& bench, NormMask mask, Worst& worst) {
  const std::vector<float> x = bench.values(1), dy = bench.values(11);
  const std::vector<float> scale = bench.per_channel(15, 1, 0.5F), shift = bench.per_channel(16, 0, 0.5F);
  const std::vector<float> slope = bench.per_channel(17, 0, 0.1F), offset = bench.per_channel(18, 0, 0.1F);
  const auto src = bench.put(x), diff = bench.put(dy), dx = bench.poisoned();
  const auto scales = bench.put_channels(scale), shifts = bench.put_channels(shift);
  const auto slopes = bench.put_channels(slope), offsets = bench.put_channels(offset);
  norm_gradient_apply(bench.stream, bench.shape,
                      {mask, src.get(), diff.get(), scales.get(), shifts.get(), slopes.get(), offsets.get(), dx.get()});
  const std::vector<float> got = decoded(bench.shape.type, dx.read());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % bench.channels();
    const bool passes = mask == NormMask::None || std::fma(x[i], scale[c], shift[c]) > 0.0F;
    const double from_g = passes ? double{scale[c]} * dy[i] : 0.0, from_x = double{slope[c]} * x[i];
    const double wanted = from_g - from_x + offset[c];
    const double bound = kFew * (std::abs(from_g) + std::abs(from_x) + std::abs(offset[c]));
    worst.add("dx", i, got[i], wanted, half_ulp(bench.shape.type) * std::abs(wanted) + bound + 0x1p-25);
  }
}

}  // namespace norm_testing

/// Checks the forward with every combination of ReLU, residual and stored bits.
[[nodiscard]] inline Worst check_norm_forward(runtime::Device& device, const NormShape& shape, std::uint32_t seed) {
  Worst worst;
  const auto stream = device.make_stream();
  const norm_testing::Bench bench{device, *stream, shape, seed};
  norm_testing::check_statistics(bench, worst);
  for (const bool relu : {false, true}) {
    for (const int residual : {0, 1, 2}) {
      for (const bool bits : {false, true}) norm_testing::check_apply(bench, relu, residual, bits, worst);
    }
  }
  return worst;
}

/// Checks the backward with every kind of mask, with and without a second gradient and stored g.
[[nodiscard]] inline Worst check_norm_backward(runtime::Device& device, const NormShape& shape, std::uint32_t seed) {
  Worst worst;
  const auto stream = device.make_stream();
  const norm_testing::Bench bench{device, *stream, shape, seed};
  for (const NormMask mask : {NormMask::None, NormMask::Recomputed, NormMask::Bits}) {
    for (const bool second : {false, true}) {
      for (const bool written : {false, true}) norm_testing::check_sums(bench, mask, second, written, worst);
    }
    if (mask != NormMask::Bits) norm_testing::check_gradient(bench, mask, worst);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
