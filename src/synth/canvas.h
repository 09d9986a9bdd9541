// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Canvas: path length of every ray in each material, one plane per material, and functions that add ellipsoids, tubes
// and textures. For use by one thread. Uses only +, -, *, / and sqrt on floats in a fixed order, so that planes are the
// same on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "synth/chest.h"

namespace roentgen::synth {

/// A rectangle in chest coordinates.
struct Rect {
  double left_mm = 0.0;
  double top_mm = 0.0;
  double right_mm = 0.0;
  double bottom_mm = 0.0;
};

/// A rectangle of pixels, right and bottom edge excluded.
struct PixelRect {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t right = 0;
  std::int64_t bottom = 0;
  [[nodiscard]] bool empty() const { return right <= left || bottom <= top; }
};

/// An ellipsoid with two axes in the image plane, turned by angle_rad, and one along the ray.
struct Ellipsoid {
  Point center;
  double along_mm = 10.0;
  double across_mm = 10.0;
  double depth_mm = 10.0;
  double angle_rad = 0.0;
};

/// A straight round tube whose radius may change from end to end. A tube thinner than a pixel is drawn one pixel wide
/// and proportionally thinner along the ray, so that its total stays the same.
struct Tube {
  Point from;
  Point to;
  double radius_from_mm = 1.0;
  double radius_to_mm = 1.0;
  /// Ratio of the tube's length in space to its length in the image, for tubes that run towards the viewer.
  double stretch = 1.0;
  /// Share of marrow inside 0.7 of the radius.
  double hollow = 0.0;
};

/// Path lengths in mm, row-major (size, size). Members are public because many functions write them.
struct Planes {
  std::vector<float> body;     ///< soft tissue, as if the chest were solid
  std::vector<float> air;      ///< aerated lung inside the body
  std::vector<float> density;  ///< share of tissue in the volume of aerated lung
  std::vector<float> vessel;   ///< blood vessels within the lung
  std::vector<float> fill;     ///< abnormal tissue or fluid within the lung; cannot exceed the air it replaces
  std::vector<float> soft;     ///< soft tissue added to the body: breasts, pleura, masses of the mediastinum
  std::vector<float> gas;      ///< gas in the body: trachea, stomach
  std::vector<float> bone;     ///< bone
};

/// Planes of one study (path lengths per material), with the mapping from pixels to chest coordinates.
class Canvas {
 public:
  Canvas(std::int64_t size_px, const Pose& pose);

  Planes planes;

  [[nodiscard]] std::int64_t size_px() const { return size_px_; }
  /// Width of a pixel in the chest, mm.
  [[nodiscard]] double pixel_mm() const { return pixel_mm_; }
  /// Returns the pixels that may show `area`, clipped at the image's edge.
  [[nodiscard]] PixelRect pixels_of(const Rect& area) const;

  /// Calls visit(index, x_mm, y_mm) for every pixel of `area`. `index` is the pixel's position in the planes; x_mm and
  /// y_mm are its centre.
  template <typename Visit>
  void for_each(const Rect& area, Visit&& visit) {
    const PixelRect box = pixels_of(area);
    for (std::int64_t row = box.top; row < box.bottom; ++row) {
      const double x0 = x_.row * static_cast<double>(row) + x_.origin;
      const double y0 = y_.row * static_cast<double>(row) + y_.origin;
      for (std::int64_t column = box.left; column < box.right; ++column) {
        const auto c = static_cast<double>(column);
        visit(static_cast<std::size_t>(row * size_px_ + column), static_cast<float>(x_.column * c + x0),
              static_cast<float>(y_.column * c + y0));
      }
    }
  }

  /// Calls visit(index, q, chord_mm, x_mm, y_mm) for every pixel in an ellipsoid's shadow. `q` is 0 in the middle and 1
  /// at the edge; `chord_mm` is the path length.
  template <typename Visit>
  void for_each(const Ellipsoid& shape, Visit&& visit) {
    const Turned turned(shape);
    for_each(turned.area, [&](std::size_t index, float x, float y) {
      const float q = turned.q(x, y);
      if (q < 1.0F) visit(index, q, turned.full_chord * std::sqrt(1.0F - q), x, y);
    });
  }

  /// Adds weight * path length through the ellipsoid to `plane`.
  void add(std::vector<float>& plane, const Ellipsoid& shape, double weight = 1.0);
  void add(std::vector<float>& plane, const Tube& tube, double weight = 1.0);
  /// Adds weight * path length through a bent tube, given as a chain of straight tubes. Where tubes of the chain
  /// overlap, only the longest path counts.
  void add_chain(std::vector<float>& plane, std::span<const Tube> chain, double weight = 1.0);
  /// Adds an ellipsoid to planes.fill or another plane like add(), and marks the covered pixels as part of the current
  /// finding.
  void add_finding(std::vector<float>& plane, const Ellipsoid& shape, double weight = 1.0);
  void add_finding(std::vector<float>& plane, const Tube& tube, double weight = 1.0);
  /// Marks one pixel as part of the current finding.
  void touch(std::size_t index);
  /// Marks a whole area as part of the current finding, for findings that change a shape.
  void touch(const Rect& area);
  /// Returns the smallest box around all marks since the last call; empty if there are none.
  [[nodiscard]] PixelRect take_touched();
  /// Assigns the whole shadow of an organ to the current finding, even where its path lengths are normal.
  void claim(const Ellipsoid& organ) { claimed_.push_back(organ); }
  /// Returns the organs passed to claim() since the last call.
  [[nodiscard]] std::vector<Ellipsoid> take_claimed() { return std::exchange(claimed_, {}); }

 private:
  struct Turned {
    explicit Turned(const Ellipsoid& shape);
    [[nodiscard]] float q(float x, float y) const {
      const float dx = x - cx;
      const float dy = y - cy;
      const float u = dx * ux + dy * uy;
      const float v = dx * vx + dy * vy;
      return u * u + v * v;
    }
    float cx, cy, ux, uy, vx, vy, full_chord;
    Rect area;
  };
  struct Affine {
    double column = 0.0;
    double row = 0.0;
    double origin = 0.0;
  };
  template <typename Visit>
  void for_each_in_tube(const Tube& tube, Visit&& visit);

  std::int64_t size_px_;
  double pixel_mm_;
  Affine x_;  // mapping from pixel to chest coordinates
  Affine y_;
  Affine column_;  // mapping from chest coordinates to pixels: (x, y, 1)
  Affine row_;
  PixelRect touched_;
  std::vector<Ellipsoid> claimed_;
  std::vector<float> scratch_;  // zero between calls
};

/// Smooth random texture in [-1, 1] with features of about `cell_mm`. Lattice values come from an integer hash; a
/// smooth step interpolates between them (value noise, a predecessor of Perlin 1985).
class Texture {
 public:
  Texture(std::uint64_t seed, double cell_mm) : seed_(seed), per_mm_(static_cast<float>(1.0 / cell_mm)) {}
  [[nodiscard]] float at(float x_mm, float y_mm) const;

 private:
  [[nodiscard]] float lattice(std::int32_t ix, std::int32_t iy) const;
  std::uint64_t seed_;
  float per_mm_;
};

/// Smooth step: 0 for t < 0, 1 for t > 1, 3t^2 - 2t^3 between.
[[nodiscard]] inline float smooth_step(float t) {
  t = std::clamp(t, 0.0F, 1.0F);
  return t * t * (3.0F - 2.0F * t);
}

}  // namespace roentgen::synth
