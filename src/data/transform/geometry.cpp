// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/geometry.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/portable_math.h"

namespace roentgen::data {
namespace {

// A rectangle of the source, in source pixels; may reach beyond it.
struct Frame {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;
};

Frame frame_of(const ImageLayout& image, Fit fit) {
  const std::int64_t width = image.width_px;
  const std::int64_t height = image.height_px;
  if (fit == Fit::Squash) return {0.0, 0.0, static_cast<double>(width), static_cast<double>(height)};
  const std::int64_t side = fit == Fit::Crop ? std::min(width, height) : std::max(width, height);
  // Whole pixels, rounded down: Pillow's and torchxrayvision's middle.
  const auto before = [side](std::int64_t extent) {
    return static_cast<double>(extent >= side ? (extent - side) / 2 : -((side - extent) / 2));
  };
  return {before(width), before(height), static_cast<double>(side), static_cast<double>(side)};
}

// One axis without rotation: place of output i = from + extent * (middle + (mirror * ((i+0.5)/S - 0.5) - shift) *
// span).
struct AxisDraw {
  double middle = 0.5;
  double span = 1.0;
  double shift = 0.0;
  double mirror = 1.0;
};

Axis axis_of(double from, double extent, const AxisDraw& draw, std::int64_t outputs) {
  const double step = draw.mirror * draw.span * extent / static_cast<double>(outputs);
  const double start = from + extent * (draw.middle - (draw.mirror * 0.5 + draw.shift) * draw.span);
  return {.start = start, .step = step, .outputs = outputs};
}

// The same with rotation: `outputs` pixels of the upright picture, as dense as the S of the output, around the place
// (middle - shift * span) that the middle of the output shows.
Axis upright_axis(double from, double extent, const AxisDraw& draw, std::int64_t size, std::int64_t outputs) {
  const double step = draw.span * extent / static_cast<double>(size);
  const double middle = from + extent * (draw.middle - draw.shift * draw.span);
  return {.start = middle - step * static_cast<double>(outputs) / 2.0, .step = step, .outputs = outputs};
}

}  // namespace

Geometry geometry_of(const ImageLayout& image, const Preprocess& preprocess, const AugmentDraw& draw) {
  RG_ASSERT(draw.zoom > 0.0 && draw.crop_width > 0.0 && draw.crop_height > 0.0);
  const Frame frame = frame_of(image, preprocess.fit);
  const std::int64_t size = preprocess.size_px;
  Geometry geometry{.is_rotated = draw.rotate_rad != 0.0, .mirror = draw.flip ? -1.0 : 1.0};
  AxisDraw x{draw.crop_x, draw.crop_width / draw.zoom, draw.shift_x, geometry.mirror};
  AxisDraw y{draw.crop_y, draw.crop_height / draw.zoom, draw.shift_y, 1.0};
  if (geometry.is_rotated) {
    geometry.sine = portable_sin(draw.rotate_rad);
    geometry.cosine = portable_cos(draw.rotate_rad);
    // The shift, turned: the upright picture lies around the place that the output's middle shows.
    x.shift = geometry.cosine * draw.shift_x - geometry.sine * draw.shift_y;
    y.shift = geometry.sine * draw.shift_x + geometry.cosine * draw.shift_y;
    const double reach = std::abs(geometry.sine) + std::abs(geometry.cosine);
    // As many more on either side as the turned corners and their neighbours need.
    const double margin = std::ceil((reach - 1.0) * static_cast<double>(size) / 2.0) + 1.0;
    const std::int64_t side = size + 2 * static_cast<std::int64_t>(margin);
    geometry.x = upright_axis(frame.x, frame.width, x, size, side);
    geometry.y = upright_axis(frame.y, frame.height, y, size, side);
  } else {
    geometry.x = axis_of(frame.x, frame.width, x, size);
    geometry.y = axis_of(frame.y, frame.height, y, size);
  }
  geometry.x.source = image.width_px;
  geometry.y.source = image.height_px;
  return geometry;
}

}  // namespace roentgen::data
