// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the files that encode_film() writes, and measures images as docs/reference/synthetic.md ("Bytes like NIH's")
// describes. Test code only.
#pragma once

#include <spng.h>
#include <turbojpeg.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/unique_handle.h"

namespace roentgen::synth::testing {

/// A gray PNG that was read back row by row.
struct ReadPng {
  int bits = 0;
  /// Number of significant bits in its sBIT chunk; 0: no such chunk.
  int significant_bits = 0;
  std::vector<std::uint16_t> samples;
  /// Number of rows with each PNG filter: None, Sub, Up, Average, Paeth.
  std::array<double, 5> rows{};
};

inline void expect_spng(int error) {
  if (error != 0) throw std::runtime_error(spng_strerror(error));
}

inline ReadPng read_png(std::span<const std::byte> bytes) {
  const UniqueHandle<spng_ctx, spng_ctx_free> context(spng_ctx_new(0));
  expect_spng(spng_set_png_buffer(context.get(), bytes.data(), bytes.size()));
  spng_ihdr header{};
  expect_spng(spng_get_ihdr(context.get(), &header));
  if (header.color_type != SPNG_COLOR_TYPE_GRAYSCALE) throw std::runtime_error("not gray");
  ReadPng result{.bits = header.bit_depth};
  spng_sbit significant{};
  if (spng_get_sbit(context.get(), &significant) == 0) result.significant_bits = significant.grayscale_bits;
  expect_spng(spng_decode_image(context.get(), nullptr, 0, SPNG_FMT_PNG, SPNG_DECODE_PROGRESSIVE));
  std::vector<std::uint8_t> row(std::size_t{header.width} * header.bit_depth / 8);
  for (std::uint32_t y = 0; y < header.height; ++y) {
    spng_row_info info{};
    expect_spng(spng_get_row_info(context.get(), &info));
    result.rows.at(info.filter) += 1.0;
    const int error = spng_decode_row(context.get(), row.data(), row.size());
    if (error != SPNG_EOI) expect_spng(error);
    for (std::size_t x = 0; x < header.width; ++x) {
      std::uint16_t sample = row[x];
      if (result.bits == 16) std::memcpy(&sample, row.data() + 2 * x, 2);
      result.samples.push_back(sample);
    }
  }
  return result;
}

inline std::vector<std::uint8_t> read_jpeg(std::span<const std::byte> bytes) {
  const UniqueHandle<void, tjDestroy> decoder(tjInitDecompress());
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling, &colours) != 0 ||
      colours != TJCS_GRAY) {
    throw std::runtime_error("not a gray JPEG");
  }
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (tjDecompress2(decoder.get(), data, bytes.size(), pixels.data(), width, 0, height, TJPF_GRAY,
                    TJFLAG_ACCURATEDCT) != 0) {
    throw std::runtime_error(tjGetErrorStr2(decoder.get()));
  }
  return pixels;
}

/// Returns the standard deviation of the noise, estimated by the method of Immerkaer (1996, "Fast noise variance
/// estimation"). The image is filtered by the mask 1 -2 1, -2 4 -2, 1 -2 1, which ignores planes and lines.
inline double noise_of(std::span<const std::uint8_t> pixels, std::int64_t size) {
  double sum = 0.0;
  for (std::int64_t y = 1; y + 1 < size; ++y) {
    const std::uint8_t* p = pixels.data() + y * size;
    for (std::int64_t x = 1; x + 1 < size; ++x) {
      const auto across = [x](const std::uint8_t* row) { return row[x - 1] - 2 * row[x] + row[x + 1]; };
      sum += std::abs(across(p - size) - 2 * across(p) + across(p + size));
    }
  }
  const double count = static_cast<double>((size - 2) * (size - 2));
  return std::sqrt(std::numbers::pi / 2.0) * sum / (6.0 * count);
}

/// Computes the Fourier transform of one line in place. The length must be a power of two.
inline void transform(std::span<std::complex<double>> line) {
  const std::size_t n = line.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1U;
    for (; (j & bit) != 0; bit >>= 1U) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(line[i], line[j]);
  }
  for (std::size_t width = 2; width <= n; width *= 2) {
    for (std::size_t k = 0; k < width / 2; ++k) {
      const auto turn = std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(width));
      for (std::size_t start = k; start < n; start += width) {
        const std::complex<double> odd = turn * line[start + width / 2];
        line[start + width / 2] = line[start] - odd;
        line[start] += odd;
      }
    }
  }
}

/// Returns the slope of the power spectrum in log-log coordinates. The power of the Hann-windowed image is averaged
/// over rings of one cycle per image. A least-squares fit covers 8 to half of `size` cycles. `size` is a power of two.
inline double spectrum_slope(std::span<const std::uint8_t> pixels, std::int64_t size) {
  const auto n = static_cast<std::size_t>(size);
  double mean = 0.0;
  for (const std::uint8_t pixel : pixels) mean += pixel;
  mean /= static_cast<double>(pixels.size());
  const auto hann = [n](std::size_t i) {
    return 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1));
  };
  std::vector<std::complex<double>> image(n * n);
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) image[y * n + x] = (pixels[y * n + x] - mean) * hann(x) * hann(y);
    transform(std::span(image).subspan(y * n, n));
  }
  std::vector<double> power(n), count(n);
  std::vector<std::complex<double>> column(n);
  for (std::size_t x = 0; x < n; ++x) {
    for (std::size_t y = 0; y < n; ++y) column[y] = image[y * n + x];
    transform(column);
    for (std::size_t y = 0; y < n; ++y) {
      const double fx = static_cast<double>(std::min(x, n - x)), fy = static_cast<double>(std::min(y, n - y));
      const auto ring = static_cast<std::size_t>(std::sqrt(fx * fx + fy * fy));
      power[ring] += std::norm(column[y]);
      count[ring] += 1.0;
    }
  }
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, points = 0.0;
  for (std::size_t ring = 8; ring < n / 2; ++ring) {
    const double x = std::log(static_cast<double>(ring)), y = std::log(power[ring] / count[ring]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
    points += 1.0;
  }
  return (points * sxy - sx * sy) / (points * sxx - sx * sx);
}

}  // namespace roentgen::synth::testing
