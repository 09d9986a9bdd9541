// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/geometry.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/portable_math.h"

namespace roentgen::data {
namespace {

// A rectangle in source pixels; it may extend beyond the source.
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
  // Rounds down to whole pixels, as Pillow and torchxrayvision do when they place the centre.
  const auto before = [side](std::int64_t extent) {
    return static_cast<double>(extent >= side ? (extent - side) / 2 : -((side - extent) / 2));
  };
  return {before(width), before(height), static_cast<double>(side), static_cast<double>(side)};
}

// First pixel of the input's cut from the fitted picture. `place`, from 0 to 1, selects one of fitted - size + 1
// positions.
double first_of(double place, std::int64_t fitted, std::int64_t size) {
  const auto choices = static_cast<double>(fitted - size + 1);
  return std::clamp(std::ceil(place * choices) - 1.0, 0.0, choices - 1.0);
}

// Part of the fitted picture that the input shows. Exact if the picture already has the size that it is fitted to.
Frame cut_of(const Frame& fitted, const Preprocess& preprocess, const AugmentDraw& draw) {
  if (!preprocess.is_cut()) return fitted;
  const auto pixels = static_cast<double>(preprocess.fitted_px());
  const auto size = static_cast<double>(preprocess.size_px);
  const double right = first_of(draw.cut_x, preprocess.fitted_px(), preprocess.size_px);
  const double down = first_of(draw.cut_y, preprocess.fitted_px(), preprocess.size_px);
  return {fitted.x + fitted.width * right / pixels, fitted.y + fitted.height * down / pixels,
          fitted.width * size / pixels, fitted.height * size / pixels};
}

// One axis without rotation: position of output i = from + extent * (middle + (mirror * ((i+0.5)/S - 0.5) - shift) *
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

// Axis with rotation: `outputs` pixels of the upright intermediate picture, as dense as the S pixels of the output.
// They are centred at (middle - shift * span), the position that the centre of the output shows.
Axis upright_axis(double from, double extent, const AxisDraw& draw, std::int64_t size, std::int64_t outputs) {
  const double step = draw.span * extent / static_cast<double>(size);
  const double middle = from + extent * (draw.middle - draw.shift * draw.span);
  return {.start = middle - step * static_cast<double>(outputs) / 2.0, .step = step, .outputs = outputs};
}

}  // namespace

Geometry geometry_of(const ImageLayout& image, const Preprocess& preprocess, const AugmentDraw& draw) {
  RG_ASSERT(draw.zoom > 0.0 && draw.crop_width > 0.0 && draw.crop_height > 0.0);
  const Frame frame = cut_of(frame_of(image, preprocess.fit), preprocess, draw);
  const std::int64_t size = preprocess.size_px;
  Geometry geometry{.is_rotated = draw.rotate_rad != 0.0 || draw.shear != 0.0, .mirror = draw.flip ? -1.0 : 1.0};
  AxisDraw x{draw.crop_x, draw.crop_width / draw.zoom, draw.shift_x, geometry.mirror};
  AxisDraw y{draw.crop_y, draw.crop_height / draw.zoom, draw.shift_y, 1.0};
  if (geometry.is_rotated) {
    const double sine = portable_sin(draw.rotate_rad);
    const double cosine = portable_cos(draw.rotate_rad);
    geometry.xx = cosine + draw.shear * sine;
    geometry.xy = -sine + draw.shear * cosine;
    geometry.yx = sine;
    geometry.yy = cosine;
    // The rotated shift: the upright picture is centred at the position that the centre of the output shows.
    x.shift = geometry.xx * draw.shift_x + geometry.xy * draw.shift_y;
    y.shift = geometry.yx * draw.shift_x + geometry.yy * draw.shift_y;
    const double reach =
        std::max(std::abs(geometry.xx) + std::abs(geometry.xy), std::abs(geometry.yx) + std::abs(geometry.yy));
    // Margin on each side for the rotated corners and their neighbours.
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

Geometry stretch(const ImageLayout& picture, const PictureSize& size) {
  const auto axis = [](std::int64_t source, std::int64_t outputs) {
    return Axis{.start = 0.0,
                .step = static_cast<double>(source) / static_cast<double>(outputs),
                .outputs = outputs,
                .source = source};
  };
  return {.x = axis(picture.width_px, size.width_px), .y = axis(picture.height_px, size.height_px)};
}

Geometry seen_by(const Image& image, Geometry geometry) {
  const auto see = [&image](Axis& axis, std::int64_t first, std::int64_t pixels) {
    axis.start = axis.start / image.part().reduction - static_cast<double>(first);
    axis.step /= image.part().reduction;
    axis.source = pixels;
  };
  see(geometry.x, image.part().left, image.width_px());
  see(geometry.y, image.part().top, image.height_px());
  return geometry;
}

Geometry geometry_of(const Image& image, const Preprocess& preprocess, const AugmentDraw& draw) {
  return seen_by(image, geometry_of(image.picture(), preprocess, draw));
}

ImageNeed need_of(const ImageLayout& picture, const Preprocess& preprocess, const AugmentDraw& draw) {
  return need_of(geometry_of(picture, preprocess, draw), preprocess.jpeg);
}

ImageNeed need_of(const Geometry& geometry, JpegSize jpeg) {
  const double ratio = std::min(std::abs(geometry.x.step), std::abs(geometry.y.step));
  ImageNeed need;
  while (jpeg == JpegSize::Scaled && need.reduction < 8 && ratio >= 2 * need.reduction) need.reduction *= 2;
  const auto range = [&need](const Axis& axis, std::int64_t& first, std::int64_t& count) {
    const double step = axis.step / need.reduction;
    const double begin = axis.start / need.reduction;
    const double end = begin + step * static_cast<double>(axis.outputs);
    const std::int64_t pixels = (axis.source + need.reduction - 1) / need.reduction;
    // A filter's support extends this far from a position; the outermost positions are within half a step of an end.
    const double reach = std::max(1.0, std::abs(step)) + 1.0;
    const auto last = static_cast<double>(pixels - 1);
    first = static_cast<std::int64_t>(std::clamp(std::floor(std::min(begin, end) - reach), 0.0, last));
    count = static_cast<std::int64_t>(std::clamp(std::ceil(std::max(begin, end) + reach), 0.0, last + 1)) - first;
    count = std::max<std::int64_t>(count, 1);
  };
  range(geometry.x, need.left, need.width_px);
  range(geometry.y, need.top, need.height_px);
  return need;
}

}  // namespace roentgen::data
