// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/canvas.h"

#include "core/portable_math.h"

namespace roentgen::synth {

Canvas::Canvas(std::int64_t size_px, const Pose& pose)
    : size_px_(size_px), pixel_mm_(pose.field_mm / (static_cast<double>(size_px) * pose.scale_x)) {
  const auto pixels = static_cast<std::size_t>(size_px * size_px);
  for (auto* plane : {&planes.body, &planes.air, &planes.density, &planes.vessel, &planes.fill, &planes.soft,
                      &planes.gas, &planes.bone}) {
    plane->assign(pixels, 0.0F);
  }
  scratch_.assign(pixels, 0.0F);
  const double c = portable_cos(pose.angle_rad);
  const double s = portable_sin(pose.angle_rad);
  const double step_mm = pose.field_mm / static_cast<double>(size_px);
  const double corner_mm = 0.5 * step_mm - 0.5 * pose.field_mm;
  const double u0 = corner_mm - pose.shift.x_mm;
  const double v0 = corner_mm - pose.shift.y_mm;
  x_ = {c * step_mm / pose.scale_x, s * step_mm / pose.scale_x, (c * u0 + s * v0) / pose.scale_x};
  y_ = {-s * step_mm / pose.scale_y, c * step_mm / pose.scale_y, (-s * u0 + c * v0) / pose.scale_y};
  const double per_mm = 1.0 / step_mm;
  column_ = {c * pose.scale_x * per_mm, -s * pose.scale_y * per_mm, -u0 * per_mm};
  row_ = {s * pose.scale_x * per_mm, c * pose.scale_y * per_mm, -v0 * per_mm};
  static_cast<void>(take_touched());
}

PixelRect Canvas::pixels_of(const Rect& area) const {
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const double x_mm : {area.left_mm, area.right_mm}) {
    for (const double y_mm : {area.top_mm, area.bottom_mm}) {
      const double column = column_.column * x_mm + column_.row * y_mm + column_.origin;
      const double row = row_.column * x_mm + row_.row * y_mm + row_.origin;
      left = std::min(left, column);
      right = std::max(right, column);
      top = std::min(top, row);
      bottom = std::max(bottom, row);
    }
  }
  const auto last = static_cast<double>(size_px_);
  const auto cut = [last](double value) { return static_cast<std::int64_t>(std::floor(std::clamp(value, 0.0, last))); };
  return {cut(left), cut(top), cut(right + 1.0), cut(bottom + 1.0)};
}

Canvas::Turned::Turned(const Ellipsoid& shape) {
  const double c = portable_cos(shape.angle_rad);
  const double s = portable_sin(shape.angle_rad);
  const double half_x = std::sqrt(shape.along_mm * shape.along_mm * c * c + shape.across_mm * shape.across_mm * s * s);
  const double half_y = std::sqrt(shape.along_mm * shape.along_mm * s * s + shape.across_mm * shape.across_mm * c * c);
  const auto f = [](double value) { return static_cast<float>(value); };
  cx = f(shape.center.x_mm);
  cy = f(shape.center.y_mm);
  ux = f(c / shape.along_mm);
  uy = f(s / shape.along_mm);
  vx = f(-s / shape.across_mm);
  vy = f(c / shape.across_mm);
  full_chord = f(2.0 * shape.depth_mm);
  area = {shape.center.x_mm - half_x, shape.center.y_mm - half_y, shape.center.x_mm + half_x,
          shape.center.y_mm + half_y};
}

template <typename Visit>
void Canvas::for_each_in_tube(const Tube& tube, Visit&& visit) {
  const double dx = tube.to.x_mm - tube.from.x_mm;
  const double dy = tube.to.y_mm - tube.from.y_mm;
  const double length = std::sqrt(dx * dx + dy * dy);
  if (length < 1e-6) return;
  const double soft_mm = 0.6 * pixel_mm_;  // half of the length over which a pixel averages
  const auto wide = [soft_mm](double radius) { return std::sqrt(radius * radius + soft_mm * soft_mm); };
  const double margin = wide(std::max(tube.radius_from_mm, tube.radius_to_mm));
  const Rect area{std::min(tube.from.x_mm, tube.to.x_mm) - margin, std::min(tube.from.y_mm, tube.to.y_mm) - margin,
                  std::max(tube.from.x_mm, tube.to.x_mm) + margin, std::max(tube.from.y_mm, tube.to.y_mm) + margin};
  const auto fx = static_cast<float>(tube.from.x_mm), fy = static_cast<float>(tube.from.y_mm);
  const auto ux = static_cast<float>(dx / length), uy = static_cast<float>(dy / length);
  const auto total = static_cast<float>(length);
  const auto r0 = static_cast<float>(tube.radius_from_mm);
  const auto slope = static_cast<float>((tube.radius_to_mm - tube.radius_from_mm) / length);
  const auto soft2 = static_cast<float>(soft_mm * soft_mm);
  const auto stretch = static_cast<float>(2.0 * tube.stretch);
  const auto hollow = static_cast<float>(tube.hollow);
  for_each(area, [&](std::size_t index, float x, float y) {
    const float along = (x - fx) * ux + (y - fy) * uy;
    if (along < 0.0F || along >= total) return;
    const float across = (y - fy) * ux - (x - fx) * uy;
    const float r = r0 + slope * along;
    const float wide2 = r * r + soft2;
    const float rest = wide2 - across * across;
    if (rest <= 0.0F) return;
    const float inner = std::max(0.0F, 0.49F * wide2 - across * across);
    visit(index, stretch * (std::sqrt(rest) - hollow * std::sqrt(inner)) * (r * r / wide2));
  });
}

void Canvas::add(std::vector<float>& plane, const Ellipsoid& shape, double weight) {
  const auto w = static_cast<float>(weight);
  for_each(shape, [&](std::size_t index, float, float chord, float, float) { plane[index] += w * chord; });
}

void Canvas::add(std::vector<float>& plane, const Tube& tube, double weight) {
  const auto w = static_cast<float>(weight);
  for_each_in_tube(tube, [&](std::size_t index, float chord) { plane[index] += w * chord; });
}

void Canvas::add_chain(std::vector<float>& plane, std::span<const Tube> chain, double weight) {
  const auto w = static_cast<float>(weight);
  for (const Tube& link : chain) {
    for_each_in_tube(link, [&](std::size_t index, float chord) { scratch_[index] = std::max(scratch_[index], chord); });
  }
  for (const Tube& link : chain) {
    for_each_in_tube(link, [&](std::size_t index, float) {
      plane[index] += w * scratch_[index];
      scratch_[index] = 0.0F;
    });
  }
}

void Canvas::add_finding(std::vector<float>& plane, const Ellipsoid& shape, double weight) {
  const auto w = static_cast<float>(weight);
  for_each(shape, [&](std::size_t index, float, float chord, float, float) {
    plane[index] += w * chord;
    touch(index);
  });
}

void Canvas::add_finding(std::vector<float>& plane, const Tube& tube, double weight) {
  const auto w = static_cast<float>(weight);
  for_each_in_tube(tube, [&](std::size_t index, float chord) {
    plane[index] += w * chord;
    touch(index);
  });
}

void Canvas::touch(std::size_t index) {
  const auto row = static_cast<std::int64_t>(index) / size_px_;
  const auto column = static_cast<std::int64_t>(index) % size_px_;
  touched_ = {std::min(touched_.left, column), std::min(touched_.top, row), std::max(touched_.right, column + 1),
              std::max(touched_.bottom, row + 1)};
}

void Canvas::touch(const Rect& area) {
  const PixelRect box = pixels_of(area);
  if (box.empty()) return;
  touch(static_cast<std::size_t>(box.top * size_px_ + box.left));
  touch(static_cast<std::size_t>((box.bottom - 1) * size_px_ + box.right - 1));
}

PixelRect Canvas::take_touched() {
  const PixelRect box = touched_;
  touched_ = {size_px_, size_px_, 0, 0};
  return box.empty() ? PixelRect{} : box;
}

float Texture::lattice(std::int32_t ix, std::int32_t iy) const {
  std::uint64_t h = seed_ ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(ix)) << 32 |
                             static_cast<std::uint64_t>(static_cast<std::uint32_t>(iy)));
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;  // SplitMix64's finaliser
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
  h ^= h >> 31;
  return static_cast<float>(static_cast<std::int32_t>(h >> 40) - (1 << 23)) * 0x1p-23F;
}

float Texture::at(float x_mm, float y_mm) const {
  const float x = x_mm * per_mm_;
  const float y = y_mm * per_mm_;
  const float floor_x = std::floor(x);
  const float floor_y = std::floor(y);
  const auto ix = static_cast<std::int32_t>(floor_x);
  const auto iy = static_cast<std::int32_t>(floor_y);
  const float tx = smooth_step(x - floor_x);
  const float ty = smooth_step(y - floor_y);
  const float top = lattice(ix, iy) + tx * (lattice(ix + 1, iy) - lattice(ix, iy));
  const float bottom = lattice(ix, iy + 1) + tx * (lattice(ix + 1, iy + 1) - lattice(ix, iy + 1));
  return top + ty * (bottom - top);
}

}  // namespace roentgen::synth
