// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/heatmap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace roentgen::eval {
namespace {

constexpr double kMostCover = 0.5;

// The four cells nearest to a pixel along one axis, and their weights, which add up to 1. `is_seen` is false for pixels
// outside the network's input.
struct Place {
  std::array<std::size_t, 4> cells{};
  std::array<double, 4> weights{};
  // Distance of the pixel beyond the middle of the outermost cell, in cells.
  double beyond = 0.0;
  bool is_seen = false;

  // Returns the weighted mean of values[cells * pitch]; exactly the value if all four are equal.
  template <typename T>
  double of(const T* values, std::size_t pitch) const {
    const double middle = values[cells[1] * pitch];
    double sum = middle;
    for (std::size_t k = 0; k < 4; ++k) sum += weights[k] * (values[cells[k] * pitch] - middle);
    return sum;
  }
};

// Weights of four cells in cubic convolution (Keys 1981 with a = -1/2, Catmull-Rom). The point lies at `share` of the
// way from the second to the third cell.
std::array<double, 4> cubic_weights(double share) {
  const double t = share, rest = 1.0 - share;
  return {-0.5 * t * rest * rest, 1.0 + t * t * (1.5 * t - 2.5), 1.0 + rest * rest * (1.5 * rest - 2.5),
          -0.5 * rest * t * t};
}

std::vector<Place> places(const MapAxis& axis, std::int64_t cells) {
  std::vector<Place> result(static_cast<std::size_t>(axis.pixels));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double input = (static_cast<double>(i) + 0.5 - axis.start) / axis.step;
    if (input < 0.0 || input > static_cast<double>(axis.inputs)) continue;
    const double cell = input * static_cast<double>(cells) / static_cast<double>(axis.inputs) - 0.5;
    const double inside = std::clamp(cell, 0.0, static_cast<double>(cells - 1));
    const auto first = static_cast<std::int64_t>(inside);
    Place& place = result[i];
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t at = std::clamp<std::int64_t>(first + k - 1, 0, cells - 1);
      place.cells[static_cast<std::size_t>(k)] = static_cast<std::size_t>(at);
    }
    place.weights = cubic_weights(inside - static_cast<double>(first));
    place.beyond = std::abs(cell - inside);
    place.is_seen = true;
  }
  return result;
}

// Finds the pixels for HeatMap::peaks.
std::vector<std::size_t> find_peaks(const HeatMap& map, const std::vector<Place>& columns,
                                    const std::vector<Place>& rows) {
  const bool is_flat = map.low == map.high;
  double nearest = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> peaks;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    if (map.values[i] != map.high) continue;
    const double beyond = is_flat ? 0.0 : columns[i % columns.size()].beyond + rows[i / columns.size()].beyond;
    if (beyond > nearest) continue;
    if (beyond < nearest) peaks.clear();
    nearest = beyond;
    peaks.push_back(i);
  }
  return peaks;
}

}  // namespace

CoarseMap weighted_sum(std::span<const float> features, std::span<const double> weights, std::int64_t width,
                       std::int64_t height) {
  const auto cells = static_cast<std::size_t>(width * height);
  RG_ASSERT(cells > 0 && features.size() == weights.size() * cells);
  std::vector<double> sums(cells, 0.0);
  for (std::size_t c = 0; c < weights.size(); ++c) {
    for (std::size_t i = 0; i < cells; ++i) sums[i] += weights[c] * static_cast<double>(features[c * cells + i]);
  }
  return {.width = width, .height = height, .values = {sums.begin(), sums.end()}};
}

HeatMap map_back(const CoarseMap& cells, const MapAxis& x, const MapAxis& y) {
  RG_ASSERT(x.step > 0.0 && y.step > 0.0 && x.inputs > 0 && y.inputs > 0);
  RG_ASSERT(!cells.values.empty() && std::ssize(cells.values) == cells.width * cells.height);
  const std::vector<Place> columns = places(x, cells.width);
  const std::vector<Place> rows = places(y, cells.height);
  HeatMap map{.width_px = x.pixels, .height_px = y.pixels, .values = {}};
  map.values.assign(columns.size() * rows.size(), std::numeric_limits<float>::quiet_NaN());
  map.low = std::numeric_limits<float>::infinity();
  map.high = -map.low;
  const auto pitch = static_cast<std::size_t>(cells.width);
  // Interpolates the rows of cells along x first, then along y.
  std::vector<double> lines(static_cast<std::size_t>(cells.height) * columns.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Place& column = columns[i % columns.size()];
    if (column.is_seen) lines[i] = column.of(cells.values.data() + i / columns.size() * pitch, 1);
  }
  const auto [least, greatest] = std::ranges::minmax(cells.values);
  map.highest_cell = greatest;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (!rows[j].is_seen) continue;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].is_seen) continue;
      const float value = std::max(least, static_cast<float>(rows[j].of(lines.data() + i, columns.size())));
      map.values[j * columns.size() + i] = value;
      map.low = std::min(map.low, value);
      map.high = std::max(map.high, value);
    }
  }
  map.peaks = find_peaks(map, columns, rows);
  return map;
}

Colour jet(double share) {
  const auto ramp = [share](double middle) { return std::clamp(1.5 - std::abs(4.0 * share - middle), 0.0, 1.0); };
  return {.red = ramp(3.0), .green = ramp(2.0), .blue = ramp(1.0)};
}

std::vector<std::uint8_t> overlay(std::span<const std::uint8_t> gray, const HeatMap& map) {
  RG_ASSERT(gray.size() == map.values.size());
  std::vector<std::uint8_t> rgb(3 * gray.size());
  const double high = map.is_anywhere_positive() ? map.high : 0.0;
  for (std::size_t i = 0; i < gray.size(); ++i) {
    const double level = gray[i];
    const double value = map.values[i];
    std::uint8_t* pixel = rgb.data() + 3 * i;
    if (std::isnan(value)) {
      std::fill_n(pixel, 3, gray[i]);
      continue;
    }
    const double share = high > 0.0 ? std::max(value, 0.0) / high : 0.0;
    const double cover = kMostCover * std::min(1.0, 2.0 * share);
    const Colour colour = jet(share);
    const auto blend = [=](double part) {
      return static_cast<std::uint8_t>(std::lround((1.0 - cover) * level + cover * 255.0 * part));
    };
    pixel[0] = blend(colour.red);
    pixel[1] = blend(colour.green);
    pixel[2] = blend(colour.blue);
  }
  return rgb;
}

}  // namespace roentgen::eval
