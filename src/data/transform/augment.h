// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Augment: ranges of random distortions in training. AugmentDraw: values drawn for one sample. transform.h applies
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/random.h"
#include "core/value.h"

namespace roentgen::data {

/// Ranges of the distortions. All zero and crop_area_min 1 means no change. Value type.
struct Augment {
  /// Rotation about the centre, uniform in [-rotate_deg, rotate_deg] degrees.
  double rotate_deg = 0.0;
  /// Horizontal shear about the centre, uniform in [-shear_deg, shear_deg] degrees. Applied before the rotation, as in
  /// torchvision's RandomAffine.
  double shear_deg = 0.0;
  /// Shift along x and along y, each uniform in [-translate, translate], as a fraction of the picture.
  double translate = 0.0;
  /// Magnification, uniform in [1 - scale, 1 + scale].
  double scale = 0.0;
  /// Random crop: its fraction of the picture's area is uniform in [crop_area_min, 1], and its position is uniform.
  double crop_area_min = 1.0;
  /// Largest ratio of the crop's width to its height, and of height to width. The logarithm of the ratio is uniform in
  /// [-log(crop_aspect_max), log(crop_aspect_max)]. Area and ratio are drawn up to ten times until the crop fits;
  /// otherwise the whole picture is used. This is torchvision's RandomResizedCrop without its rounding to whole pixels.
  /// 1: square.
  double crop_aspect_max = 1.0;
  /// Probability of a left-right mirror image.
  double flip_probability = 0.0;
  /// If true, Preprocess cuts its input from a random position of the larger fitted picture, in whole pixels, instead
  /// of the centre.
  bool is_crop_random = false;
  /// Added gray, uniform in [-brightness, brightness], as a fraction of the range from black to white.
  double brightness = 0.0;
  /// Contrast about mid-gray, uniform in [1 - contrast, 1 + contrast].
  double contrast = 0.0;

  friend bool operator==(const Augment&, const Augment&) = default;
  /// True if draw() can only return the identity.
  [[nodiscard]] bool is_none() const { return *this == Augment{}; }
  /// Table with the keys {rotate, shear, translate, scale, crop_area, crop_aspect, flip, random_crop, brightness,
  /// contrast}.
  [[nodiscard]] Value to_value() const;
  /// Text such as "rotate 10 deg, translate 0.05, crop area >= 0.8" or "none".
  [[nodiscard]] std::string text() const;
};

/// Reads a table with the keys of to_value(), all optional. Throws ConfigError for unknown keys or values out of range.
[[nodiscard]] Augment augment_from_value(const Value& table);

/// Random values for one picture. The picture is cropped and magnified, sheared and rotated about its centre, shifted,
/// and mirrored, in this order. The default is the identity.
struct AugmentDraw {
  /// Counter-clockwise rotation of the picture in radians.
  double rotate_rad = 0.0;
  /// Tangent of the shear angle. Points above the centre move right by this fraction of their distance from it.
  double shear = 0.0;
  /// Shift of the picture to the right and down, as fractions of the output.
  double shift_x = 0.0;
  double shift_y = 0.0;  ///< shift down, as a fraction of the output
  double zoom = 1.0;     ///< magnification
  /// Crop: its sides and its centre as fractions of the picture.
  double crop_width = 1.0;
  double crop_height = 1.0;  ///< fraction of the picture's height
  double crop_x = 0.5;       ///< centre of the crop, from the left
  double crop_y = 0.5;       ///< centre of the crop, from the top
  bool flip = false;         ///< mirrored left to right
  double brightness = 0.0;   ///< added gray, as a fraction of black to white
  double contrast = 1.0;     ///< factor on the distance from mid-gray
  /// Position at which Preprocess cuts its input from a larger picture, 0 to 1 from left to right. It selects number
  /// ceil(position * choices) of the possible first pixels, counted from 1; 0.5 is the centre.
  double cut_x = 0.5;
  double cut_y = 0.5;  ///< position from top to bottom

  friend bool operator==(const AugmentDraw&, const AugmentDraw&) = default;
};

/// Draws the values of a distortion. Pure function of the arguments. The order of its random numbers does not depend on
/// the ranges, so changing one range never changes the other values.
[[nodiscard]] AugmentDraw draw(const Augment& augment, Random& random);

/// Seed, epoch and image that determine a distortion.
struct AugmentKey {
  std::uint64_t seed = 0;   ///< seed of the run
  std::uint32_t epoch = 0;  ///< epoch, from 0
  /// Name of the image (Sample::id).
  std::string_view id;
};
/// Draws the distortion of an image in one epoch. It depends on the image's name (64 bits of XXH3), not on its position
/// in the data set. So files and records made from them get the same distortions.
[[nodiscard]] AugmentDraw draw(const Augment& augment, const AugmentKey& key);

}  // namespace roentgen::data
