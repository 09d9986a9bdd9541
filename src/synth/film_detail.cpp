// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/film_detail.h"

#include <array>

#include "core/portable_math.h"
#include "core/random.h"

namespace roentgen::synth {
namespace {
constexpr double kNoDetailMm = 1.25, kAllDetailMm = 0.65;
constexpr double kWidestCellMm = 1.3;
constexpr int kMostOctaves = 5;
// Ratio of the amplitude of an octave to the amplitude of the previous octave, whose cells are twice as wide.
constexpr double kFall = 0.95;
// Channels of the random stream of `seed`.
constexpr std::uint32_t kStructureChannel = 0, kBlurChannel = 1;

Random stream(std::uint64_t seed, std::uint32_t channel) { return Random(seed, RandomStage::SynthDetail, channel); }

// Returns the value of a lattice point in [-1, 1): a hash of its position by the finaliser of SplitMix64.
float lattice(std::uint64_t seed, std::uint64_t octave, std::int64_t row, std::int64_t column) {
  std::uint64_t x =
      seed ^ (octave << 56U) ^ (static_cast<std::uint64_t>(row) << 28U) ^ static_cast<std::uint64_t>(column);
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return static_cast<float>(static_cast<std::int64_t>(x >> 40U) - (std::int64_t{1} << 23U)) * (1.0F / 8388608.0F);
}

// Returns the weights of the four lattice points around a position t in [0, 1) after the second point (uniform cubic
// B-spline).
std::array<float, 4> spline(float t) {
  const float s = 1.0F - t;
  return {s * s * s / 6.0F, (4.0F + t * t * (3.0F * t - 6.0F)) / 6.0F, (4.0F + s * s * (3.0F * s - 6.0F)) / 6.0F,
          t * t * t / 6.0F};
}

// Position of a row or column of pixels between lattice points.
struct Place {
  std::int64_t first = 0;
  std::array<float, 4> weight{};
};

std::vector<Place> places(std::int64_t size, double cell_px) {
  std::vector<Place> result(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    const double at = (static_cast<double>(i) + 0.5) / cell_px;
    const auto cell = static_cast<std::int64_t>(at);
    result[static_cast<std::size_t>(i)] = {cell, spline(static_cast<float>(at - static_cast<double>(cell)))};
  }
  return result;
}

// One octave of the fine structure: spline noise of unit amplitude on a lattice with cells of these sizes.
struct Octave {
  double cell_x_px = 1.0;
  double cell_y_px = 1.0;
  float amplitude = 1.0F;
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
};

void add_octave(std::vector<float>& sum, std::int64_t size, const Octave& octave) {
  const std::vector<Place> across = places(size, octave.cell_x_px), down = places(size, octave.cell_y_px);
  const std::int64_t columns = across.back().first + 4, rows = down.back().first + 4;
  std::vector<float> points;
  points.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      points.push_back(octave.amplitude * lattice(octave.seed, octave.number, i, j));
    }
  }
  std::vector<float> line(static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < size; ++row) {
    const Place& y = down[static_cast<std::size_t>(row)];
    const float* above = points.data() + y.first * columns;
    for (std::int64_t j = 0; j < columns; ++j) {
      line[static_cast<std::size_t>(j)] = y.weight[0] * above[j] + y.weight[1] * above[columns + j] +
                                          y.weight[2] * above[2 * columns + j] + y.weight[3] * above[3 * columns + j];
    }
    float* out = sum.data() + row * size;
    for (std::int64_t column = 0; column < size; ++column) {
      const Place& x = across[static_cast<std::size_t>(column)];
      const float* p = line.data() + x.first;
      out[column] += x.weight[0] * p[0] + x.weight[1] * p[1] + x.weight[2] * p[2] + x.weight[3] * p[3];
    }
  }
}

// Returns the amount of fine structure on a ray: most in the lung, less in the chest wall and in bone, none outside the
// body.
float structure_at(const Planes& planes, std::size_t i) {
  if (planes.body[i] <= 0.0F) return 0.0F;
  const float in_body = std::min(1.0F, planes.body[i] * 0.02F);
  const float in_lung = planes.air[i] / (planes.air[i] + 30.0F);
  const float in_bone = planes.bone[i] / (planes.bone[i] + 15.0F);
  return 0.5F * (in_body + in_lung + in_bone);
}

std::vector<float> gauss(double sigma_px) {
  const auto radius = static_cast<std::int64_t>(std::ceil(2.5 * sigma_px));
  std::vector<double> weights;
  double sum = 0.0;
  for (std::int64_t i = -radius; i <= radius; ++i) {
    const double at = static_cast<double>(i) / sigma_px;
    weights.push_back(portable_exp(-0.5 * at * at));
    sum += weights.back();
  }
  std::vector<float> result;
  for (const double w : weights) result.push_back(static_cast<float>(w / sum));
  return result;
}

// Blurs rows. Pixels beyond the image have the value of the pixel at the edge.
void blur_rows(std::vector<float>& image, std::int64_t size, const std::vector<float>& weights) {
  const auto taps = static_cast<std::int64_t>(weights.size());
  const std::int64_t radius = taps / 2;
  std::vector<float> line(static_cast<std::size_t>(size + 2 * radius));
  for (std::int64_t row = 0; row < size; ++row) {
    float* pixels = image.data() + row * size;
    std::fill_n(line.begin(), radius, pixels[0]);
    std::copy_n(pixels, size, line.begin() + radius);
    std::fill_n(line.begin() + radius + size, radius, pixels[size - 1]);
    std::fill_n(pixels, size, 0.0F);
    for (std::int64_t k = 0; k < taps; ++k) {
      const float w = weights[static_cast<std::size_t>(k)];
      for (std::int64_t i = 0; i < size; ++i) pixels[i] += w * line[static_cast<std::size_t>(i + k)];
    }
  }
}

void blur_columns(std::vector<float>& image, std::int64_t size, const std::vector<float>& weights) {
  const auto taps = static_cast<std::int64_t>(weights.size());
  const std::int64_t radius = taps / 2;
  const std::vector<float> before = image;
  for (std::int64_t row = 0; row < size; ++row) {
    float* pixels = image.data() + row * size;
    std::fill_n(pixels, size, 0.0F);
    for (std::int64_t k = 0; k < taps; ++k) {
      const float w = weights[static_cast<std::size_t>(k)];
      const float* line = before.data() + std::clamp<std::int64_t>(row + k - radius, 0, size - 1) * size;
      for (std::int64_t i = 0; i < size; ++i) pixels[i] += w * line[i];
    }
  }
}
}  // namespace

double detail_share(double pixel_mm) {
  return std::clamp((kNoDetailMm - pixel_mm) / (kNoDetailMm - kAllDetailMm), 0.0, 1.0);
}

void add_fine_structure(std::vector<float>& integrals, const Canvas& canvas, std::uint64_t seed) {
  const double share = detail_share(canvas.pixel_mm());
  if (share <= 0.0) return;
  Random random = stream(seed, kStructureChannel);
  const std::uint64_t key = random.next_u64();
  const double strength = share * random.uniform(0.17, 0.52);
  const double taller = random.uniform(1.0, 1.95);
  std::vector<float> sum(integrals.size());
  double cell_mm = kWidestCellMm, amplitude = strength;
  for (int octave = 0; octave < kMostOctaves; ++octave, cell_mm *= 0.5, amplitude *= kFall) {
    const double cell_px = cell_mm / canvas.pixel_mm();
    const double shown = std::clamp(cell_px - 1.0, 0.0, 1.0);
    if (shown <= 0.0) break;
    add_octave(sum, canvas.size_px(),
               {.cell_x_px = cell_px,
                .cell_y_px = taller * cell_px,
                .amplitude = static_cast<float>(shown * amplitude),
                .seed = key,
                .number = static_cast<std::uint64_t>(octave)});
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    integrals[i] = std::max(0.0F, integrals[i] + sum[i] * structure_at(canvas.planes, i));
  }
}

void blur_as_detector(std::vector<float>& signal, const Canvas& canvas, std::uint64_t seed) {
  const double share = detail_share(canvas.pixel_mm());
  if (share <= 0.0) return;
  Random random = stream(seed, kBlurChannel);
  const double sigma_mm = random.uniform(0.075, 0.131);
  const double taller = random.uniform(1.0, 1.9);
  blur_rows(signal, canvas.size_px(), gauss(share * sigma_mm / canvas.pixel_mm()));
  blur_columns(signal, canvas.size_px(), gauss(share * sigma_mm * taller / canvas.pixel_mm()));
}

}  // namespace roentgen::synth
