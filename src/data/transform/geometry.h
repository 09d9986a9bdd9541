// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Position in the source of each pixel of a transformed picture. Computes the definition in transform.h.
#pragma once

#include <cstdint>

#include "data/codec/codec.h"
#include "data/image.h"
#include "data/transform/augment.h"
#include "data/transform/filter.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// A resize along both axes, followed by a rotation if there is one.
struct Geometry {
  /// Axis of the output's width; with rotation, of the width of the upright intermediate picture, which is square.
  Axis x;
  Axis y;  ///< axis of the output's height
  /// True if the picture is rotated or sheared; "with rotation" in this file means either.
  bool is_rotated = false;
  /// Coefficients of the rotation in pixels. Output pixel (i, j) of S x S is at this offset from the centre of the
  /// upright intermediate picture:
  ///   (xx a + xy b, yx a + yy b), where (a, b) = (mirror (i - (S - 1) / 2), j - (S - 1) / 2)
  /// The intermediate picture is large enough for all four neighbours of each position.
  double xx = 1.0;
  double xy = 0.0;      ///< coefficient of b in x
  double yx = 0.0;      ///< coefficient of a in y
  double yy = 1.0;      ///< coefficient of b in y
  double mirror = 1.0;  ///< -1: mirrored left to right; otherwise 1
};

/// Width and height of a picture.
struct PictureSize {
  std::int64_t width_px = 0;   ///< width in px
  std::int64_t height_px = 0;  ///< height in px
};

/// Geometry that resizes a whole picture to a size, each axis separately and without a cut. Pure function.
[[nodiscard]] Geometry stretch(const ImageLayout& picture, const PictureSize& size);

/// Geometry in the pixels that `image` contains of its picture (Image::part), from that of the whole picture.
[[nodiscard]] Geometry seen_by(const Image& image, Geometry geometry);

/// Geometry for a whole picture. Pure function.
[[nodiscard]] Geometry geometry_of(const ImageLayout& image, const Preprocess& preprocess, const AugmentDraw& draw);

/// Geometry for the pixels that `image` contains of its picture (Image::part).
[[nodiscard]] Geometry geometry_of(const Image& image, const Preprocess& preprocess, const AugmentDraw& draw);

/// Part of a picture that a transform uses, and the largest reduction at which it may be decoded. Pure function.
[[nodiscard]] ImageNeed need_of(const ImageLayout& picture, const Preprocess& preprocess, const AugmentDraw& draw);
/// Part of a picture that `geometry` uses, and the largest reduction at which it may be decoded. Pure function.
[[nodiscard]] ImageNeed need_of(const Geometry& geometry, JpegSize jpeg);

}  // namespace roentgen::data
