// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Position in the source of each pixel of a transformed picture: the definition of transform.h in numbers.
#pragma once

#include "data/codec/codec.h"
#include "data/image.h"
#include "data/transform/augment.h"
#include "data/transform/filter.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// A resize along both axes and, with rotation, the step afterwards.
struct Geometry {
  /// Axis of the output's width; with rotation, of the upright picture's, which is square.
  Axis x;
  Axis y;  ///< axis of the height
  /// Whether the picture is rotated or sheared; "with rotation" below means either.
  bool is_rotated = false;
  /// Rotation matrix in pixels. Output pixel (i, j) of S x S lies in the upright picture at this offset from its
  /// middle:
  ///   (xx a + xy b, yx a + yy b), where (a, b) = (mirror (i - (S - 1) / 2), j - (S - 1) / 2)
  /// The upright picture contains all four neighbours of each.
  double xx = 1.0;
  double xy = 0.0;      ///< share of b in x
  double yx = 0.0;      ///< share of a in y
  double yy = 1.0;      ///< share of b in y
  double mirror = 1.0;  ///< -1: mirrored left to right
};

/// Geometry of one picture. Pure function.
[[nodiscard]] Geometry geometry_of(const ImageLayout& image, const Preprocess& preprocess, const AugmentDraw& draw);

/// Geometry in the pixels that `image` has of its picture (Image::part).
[[nodiscard]] Geometry geometry_of(const Image& image, const Preprocess& preprocess, const AugmentDraw& draw);

/// Part of a picture that a transform uses, and the smallest scale at which it may be decoded. Pure function.
[[nodiscard]] ImageNeed need_of(const ImageLayout& picture, const Preprocess& preprocess, const AugmentDraw& draw);

}  // namespace roentgen::data
