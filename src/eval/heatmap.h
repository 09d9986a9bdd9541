// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Heat-maps: interpolates the cells of a network's feature map to the pixels of the original picture. train/heatmap.h
// computes the feature maps and weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roentgen::eval {

/// Coarse heat map with one number for each cell of a feature map. Plain value.
struct CoarseMap {
  std::int64_t width = 0;   ///< number of cells in a row
  std::int64_t height = 0;  ///< number of rows
  /// (height, width) row-major
  std::vector<float> values;
};

/// Class activation map (Zhou et al. 2016): sum over c of weights[c] * features[c], in double. features (C, H, W).
[[nodiscard]] CoarseMap weighted_sum(std::span<const float> features, std::span<const double> weights,
                                     std::int64_t width, std::int64_t height);

/// Position of the network's input in the original picture, along one axis. The middle of picture pixel p lies at (p +
/// 0.5 - start) / step of `inputs` network pixels. This is data::Axis without augmentation.
struct MapAxis {
  double start = 0.0;  ///< first picture pixel of the input; may lie outside the picture
  double step = 1.0;   ///< picture pixels per network pixel
  /// Number of network pixels.
  std::int64_t inputs = 0;
  /// Number of pixels of the original picture.
  std::int64_t pixels = 0;
};

/// Heat map with one number for each pixel of the original picture. NaN for pixels outside the network's input, such as
/// those cut off by a crop. Plain value.
struct HeatMap {
  std::int64_t width_px = 0;   ///< number of columns
  std::int64_t height_px = 0;  ///< number of rows
  /// (height_px, width_px) row-major
  std::vector<float> values;
  /// Smallest of the values, ignoring NaN.
  float low = 0.0F;
  float high = 0.0F;  ///< largest of the values, ignoring NaN
  /// Largest value of the coarse cells. If it is not positive, positive pixel values are artefacts of the
  /// interpolation.
  float highest_cell = 0.0F;
  /// Indices of the pixels with the largest value, ascending; at least one. Beyond the middle of an outermost cell the
  /// map is constant; there only the pixels nearest to this middle count. For a constant map, all pixels that are not
  /// NaN.
  std::vector<std::size_t> peaks{};

  /// True if the map supports the class: at least one cell and one pixel are positive.
  [[nodiscard]] bool is_anywhere_positive() const { return high > 0.0F && highest_cell > 0.0F; }
};

/// Interpolates the coarse cells to the pixels of the original picture. Cell j of W covers the network pixels [j, j +
/// 1] * inputs / W. Interpolation is cubic convolution (Keys 1981, a = -1/2), so a peak can lie between the middles of
/// cells. Beyond the middle of the outermost cells the map is constant. No value is below the smallest cell; a peak
/// between cells may exceed the largest cell. A constant map stays exactly constant. The axes describe squash, crop or
/// pad of the preprocessing, which is thereby inverted.
[[nodiscard]] HeatMap map_back(const CoarseMap& cells, const MapAxis& x, const MapAxis& y);

/// Red, green and blue, each from 0 to 1.
struct Colour {
  double red = 0.0;    ///< 0 to 1
  double green = 0.0;  ///< 0 to 1
  double blue = 0.0;   ///< 0 to 1
};
/// Returns the colour of the colour map JET at `share`, 0 to 1: 0 is dark blue, 0.5 green, 1 dark red.
[[nodiscard]] Colour jet(double share);

/// Draws the heat map in the colours of JET over the gray picture (0 to 255). The overlay has opacity one half where
/// the map reaches half of its largest value. Below, opacity decreases to none at 0. The picture stays gray outside the
/// network's input, and everywhere if no value of the map is positive. `gray` has width_px * height_px elements.
/// Returns (height_px, width_px, 3).
[[nodiscard]] std::vector<std::uint8_t> overlay(std::span<const std::uint8_t> gray, const HeatMap& map);

}  // namespace roentgen::eval
