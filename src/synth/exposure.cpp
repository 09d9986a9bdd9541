// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/exposure.h"

#include <bit>

#include "synth/film_detail.h"

namespace roentgen::synth {
namespace {
// Attenuation per mm at the mean energy of a 120 kV beam behind a patient: of water, and (below) of bone minus water.
constexpr float kTissuePerMm = 0.0195F;
constexpr float kBonePerMm = 0.030F;

// Computes exp(-x) for x in [0, 80] with relative error < 3e-7: 2^n by the exponent field, 2^f by a polynomial on
// [-0.5, 0.5].
float decay(float x) {
  const float t = -1.44269504F * std::min(x, 80.0F);
  const float n = std::floor(t + 0.5F);
  const float f = (t - n) * 0.693147181F;
  float sum = 1.0F / 720.0F;
  sum = sum * f + 1.0F / 120.0F;
  sum = sum * f + 1.0F / 24.0F;
  sum = sum * f + 1.0F / 6.0F;
  sum = sum * f + 0.5F;
  sum = sum * f + 1.0F;
  sum = sum * f + 1.0F;
  return sum * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

// Natural logarithm of a normal positive float: 2 artanh(s) with s = (m-1)/(m+1) for mantissa m, |s| <= 0.172, error <
// 1e-6.
float log_of(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  // Moves the mantissa to [sqrt(1/2), sqrt(2)).
  const std::int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float m = std::bit_cast<float>(bits - (exponent << 23));
  const float s = (m - 1.0F) / (m + 1.0F);
  const float z = s * s;
  const float sum = ((z * (1.0F / 7.0F) + 0.2F) * z + 1.0F / 3.0F) * z + 1.0F;
  return static_cast<float>(exponent) * 0.693147181F + 2.0F * s * sum;
}

// Box filter along rows that reads (row, column) and writes (column, row); two calls filter both directions. Pixels
// outside the image count as 0.
void box_transposed(const std::vector<float>& src, std::vector<float>& dst, std::int64_t size, std::int64_t radius) {
  const float share = 1.0F / static_cast<float>(2 * radius + 1);
  for (std::int64_t row = 0; row < size; ++row) {
    const float* line = src.data() + row * size;
    double sum = 0.0;
    for (std::int64_t i = 0; i < std::min(radius, size); ++i) sum += static_cast<double>(line[i]);
    for (std::int64_t i = 0; i < size; ++i) {
      if (i + radius < size) sum += static_cast<double>(line[i + radius]);
      if (i - radius - 1 >= 0) sum -= static_cast<double>(line[i - radius - 1]);
      dst[static_cast<std::size_t>(i * size + row)] = static_cast<float>(sum) * share;
    }
  }
}

// Approximates a Gaussian blur by three box filters.
std::vector<float> wide_blur(const std::vector<float>& image, std::int64_t size, std::int64_t radius) {
  std::vector<float> a = image;
  std::vector<float> b(image.size());
  for (int pass = 0; pass < 3; ++pass) {
    box_transposed(a, b, size, radius);
    box_transposed(b, a, size, radius);
  }
  return a;
}

// Approximately normal random value with variance 1: the sum of four 16-bit uniform values (Irwin-Hall). It is cheap,
// and equal on every machine.
float noise(Random& random) {
  const std::uint64_t bits = random.next_u64();
  const auto part = [bits](int shift) { return static_cast<std::int64_t>((bits >> shift) & 0xffff); };
  const std::int64_t sum = part(0) + part(16) + part(32) + part(48) - 2 * 65535;
  return static_cast<float>(sum) * static_cast<float>(1.7320508 / 65536.0);
}

float share_below(std::vector<float>& values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
}  // namespace

std::vector<float> line_integrals(const Planes& planes) {
  std::vector<float> sum(planes.body.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const float hollow = planes.air[i] * (1.0F - planes.density[i]);  // mm of air that abnormal tissue may replace
    const float filled = std::min(planes.vessel[i] * std::min(1.0F, planes.air[i] * 0.05F) + planes.fill[i], hollow);
    const float gas = std::min(planes.gas[i], planes.body[i]);
    const float tissue = planes.body[i] + planes.soft[i] - hollow + filled - gas;
    sum[i] = kTissuePerMm * std::max(0.0F, tissue) + (planes.body[i] > 0.0F ? kBonePerMm * planes.bone[i] : 0.0F);
  }
  return sum;
}

std::vector<float> expose(const Canvas& canvas, const Exposure& exposure, Random random, std::uint64_t detail_seed) {
  const std::int64_t size = canvas.size_px();
  std::vector<float> signal = line_integrals(canvas.planes);
  add_fine_structure(signal, canvas, detail_seed);
  for (float& p : signal) p = decay(p);
  const double radius_px = exposure.scatter_radius_mm / canvas.pixel_mm();
  const auto radius = std::max<std::int64_t>(1, static_cast<std::int64_t>(radius_px * 0.6 + 0.5));
  const std::vector<float> scatter = wide_blur(signal, size, radius);
  const auto share = static_cast<float>(exposure.scatter_share);
  const double photons = exposure.photons_per_mm2 * canvas.pixel_mm() * canvas.pixel_mm();
  const auto per_photon = static_cast<float>(1.0 / photons);
  const auto slope_x = static_cast<float>(exposure.slope_x), slope_y = static_cast<float>(exposure.slope_y);
  const float per_px = 1.0F / static_cast<float>(size);
  for (std::int64_t row = 0; row < size; ++row) {
    for (std::int64_t column = 0; column < size; ++column) {
      const auto i = static_cast<std::size_t>(row * size + column);
      const float total = signal[i] + share * scatter[i];
      const float counted = std::max(total + noise(random) * std::sqrt(total * per_photon), 1e-6F);
      const float heel =
          slope_x * (static_cast<float>(column) * per_px - 0.5F) + slope_y * (static_cast<float>(row) * per_px - 0.5F);
      signal[i] = heel - log_of(counted);
    }
  }
  blur_as_detector(signal, canvas, detail_seed);
  std::vector<float> sorted = signal;
  const float low = share_below(sorted, 0.06);
  const float high = share_below(sorted, 0.985);
  const float range = std::max(high - low, 0.1F);
  const float black = low + static_cast<float>(exposure.black) * range;
  const float scale = 1.0F / (range * (1.0F + static_cast<float>(exposure.white - exposure.black)));
  const auto bend = static_cast<float>(exposure.bend), s_shape = static_cast<float>(exposure.s_shape);
  for (float& value : signal) {
    const float v = std::clamp((value - black) * scale, 0.0F, 1.0F);
    const float hump = v * (1.0F - v);
    value = std::clamp(v + hump * (bend + s_shape * (2.0F * v - 1.0F)), 0.0F, 1.0F);
  }
  return signal;
}

}  // namespace roentgen::synth
