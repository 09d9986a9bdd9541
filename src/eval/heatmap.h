// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Heat-maps: from the cells of a network's feature map to the pixels of the picture that was fed to it. Where cells and
// weights come from is train/heatmap.h's business.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roentgen::eval {

/// Coarse map: one number for each cell of a feature map. Plain value.
struct CoarseMap {
  std::int64_t width = 0;   ///< cells in a row
  std::int64_t height = 0;  ///< rows
  /// (height, width) row-major
  std::vector<float> values;
};

/// Class activation map (Zhou et al. 2016): sum over c of weights[c] * features[c], in double. features (C, H, W).
[[nodiscard]] CoarseMap weighted_sum(std::span<const float> features, std::span<const double> weights,
                                     std::int64_t width, std::int64_t height);

/// Position of one axis of the network's input in the original picture. Pixel p of the picture has its middle at (p +
/// 0.5 - start) / step of `inputs` network pixels. This is data::Axis without augmentation.
struct MapAxis {
  double start = 0.0;  ///< start in picture pixels; may lie outside
  double step = 1.0;   ///< picture pixels per network pixel
  /// Network pixels.
  std::int64_t inputs = 0;
  /// Pixels of the original picture.
  std::int64_t pixels = 0;
};

/// Heat-map: one number for each pixel of the original picture; NaN where the network saw nothing (outside a crop).
/// Plain value.
struct HeatMap {
  std::int64_t width_px = 0;   ///< columns
  std::int64_t height_px = 0;  ///< rows
  /// (height_px, width_px) row-major
  std::vector<float> values;
  /// Smallest and largest of the numbers, NaN left out.
  float low = 0.0F;
  float high = 0.0F;  ///< largest of the numbers
  /// Largest value of the cells. Between two negative cells the interpolated map can be positive; such a value has no
  /// meaning.
  float highest_cell = 0.0F;
  /// Indices of the pixels of the largest value, ascending; at least one. Beyond the middle of an outermost cell the
  /// map is constant; there, only the pixels nearest to that middle count. All pixels with a number for a flat map.
  std::vector<std::size_t> peaks{};

  /// Whether the map supports the class: a cell is positive, and so is a pixel.
  [[nodiscard]] bool is_anywhere_positive() const { return high > 0.0F && highest_cell > 0.0F; }
};

/// Stretches the cells over the whole input and maps them back into the picture's own pixels. Cell j of W covers the
/// network pixels [j, j + 1] * inputs / W. One step of cubic convolution (Keys 1981, a = -1/2) interpolates, so a peak
/// can lie between the middles of cells. Beyond the middle of the outermost cells the map stays constant.
/// No value is below the least cell's; a peak between cells may be above the greatest. A flat map stays exactly flat.
/// Undoes squash, crop and pad alike, since the axes describe them.
[[nodiscard]] HeatMap map_back(const CoarseMap& cells, const MapAxis& x, const MapAxis& y);

/// Colour with red, green and blue from 0 to 1, as the colour map JET gives it: 0 dark blue, 0.5 green, 1 dark red.
struct Colour {
  double red = 0.0;    ///< 0 to 1
  double green = 0.0;  ///< 0 to 1
  double blue = 0.0;   ///< 0 to 1
};
/// Colour of JET at `share`, 0 to 1.
[[nodiscard]] Colour jet(double share);

/// The picture in gray (0 to 255), covered by the map in JET. The cover is half opaque (red) where the map is at or
/// over half of its largest value. It is weaker below, and absent at 0 and below. The picture stays gray where the
/// network saw nothing, and everywhere when the map has no positive value. `gray` has width_px * height_px elements.
/// Returns (height_px, width_px, 3).
[[nodiscard]] std::vector<std::uint8_t> overlay(std::span<const std::uint8_t> gray, const HeatMap& map);

}  // namespace roentgen::eval
