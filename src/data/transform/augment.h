// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Augment: the ranges of random distortions in training. AugmentDraw: the values drawn for one sample. transform.h
// applies them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/random.h"
#include "core/value.h"

namespace roentgen::data {

/// Ranges of the distortions; all zero (and crop_area_min 1): no change. Value type.
struct Augment {
  /// Rotation about the middle, uniform in [-, +] degrees.
  double rotate_deg = 0.0;
  /// Horizontal shear about the middle, uniform in [-, +] degrees; before the rotation, as torchvision's RandomAffine.
  double shear_deg = 0.0;
  /// Shift along x and y, each uniform in [-, +] fractions of the picture.
  double translate = 0.0;
  /// Magnification, uniform in [1 - scale, 1 + scale].
  double scale = 0.0;
  /// Random crop: its share of the area is uniform in [crop_area_min, 1], its position uniform.
  double crop_area_min = 1.0;
  /// Largest ratio of the crop's width to its height, and of height to width. The ratio is e to the power of a uniform
  /// number in [-, +] log(crop_aspect). Area and ratio are drawn up to ten times until the crop fits, else the whole
  /// picture is used. This is torchvision's RandomResizedCrop without its rounding to whole pixels. 1: square.
  double crop_aspect_max = 1.0;
  /// Probability of a left-right mirror image.
  double flip_probability = 0.0;
  /// Whether Preprocess cuts its input from a random position of a larger picture, in whole pixels, instead of the
  /// middle.
  bool is_crop_random = false;
  /// Added gray, uniform in [-, +] of the range black to white.
  double brightness = 0.0;
  /// Contrast about mid-gray, uniform in [1 - contrast, 1 + contrast].
  double contrast = 0.0;

  friend bool operator==(const Augment&, const Augment&) = default;
  /// True when draw() can only give the identity.
  [[nodiscard]] bool is_none() const { return *this == Augment{}; }
  /// Keys: {rotate, shear, translate, scale, crop_area, crop_aspect, flip, random_crop, brightness, contrast}.
  [[nodiscard]] Value to_value() const;
  /// "rotate 10 deg, translate 0.05, crop area >= 0.8" or "none".
  [[nodiscard]] std::string text() const;
};

/// Reads a table with the keys of to_value(), all optional. ConfigError on unknown keys or values out of range.
[[nodiscard]] Augment augment_from_value(const Value& table);

/// One draw: the picture is cropped and magnified, sheared and turned about its middle, shifted, and mirrored, in this
/// order. The default is the identity.
struct AugmentDraw {
  /// Counter-clockwise rotation of the picture.
  double rotate_rad = 0.0;
  /// Tangent of the shear: the top of the picture moves right, by this share of its distance from the middle.
  double shear = 0.0;
  /// Shift of the picture to the right and down, as fractions of the output.
  double shift_x = 0.0;
  double shift_y = 0.0;  ///< shift downwards
  double zoom = 1.0;     ///< magnification
  /// Crop: its sides and its middle as fractions of the picture.
  double crop_width = 1.0;
  double crop_height = 1.0;  ///< share of the picture's height
  double crop_x = 0.5;       ///< middle of the crop, from the left
  double crop_y = 0.5;       ///< middle of the crop, from the top
  bool flip = false;         ///< mirrored left to right
  double brightness = 0.0;   ///< added gray, as a share of black to white
  double contrast = 1.0;     ///< factor about mid-gray
  /// Position of the cut that Preprocess makes out of a larger picture, from left to right and top to bottom. It is
  /// choice ceil(position * choices) of the possible first pixels 1, 2, ...; the middle at 0.5.
  double cut_x = 0.5;
  double cut_y = 0.5;  ///< place from top to bottom

  friend bool operator==(const AugmentDraw&, const AugmentDraw&) = default;
};

/// Draws the parameters of an augmentation. Pure function of the arguments. The order of its random numbers does not
/// depend on the ranges, so one range never changes the draws of another.
[[nodiscard]] AugmentDraw draw(const Augment& augment, Random& random);

/// Image and epoch of a distortion.
struct AugmentKey {
  std::uint64_t seed = 0;   ///< seed of the run
  std::uint32_t epoch = 0;  ///< epoch, from 0
  /// Sample::id.
  std::string_view id;
};
/// Draws the distortion of an image in one epoch. It depends on the image's name (64 bits of XXH3), not on its place in
/// the data set. So files and the records made of them are distorted alike.
[[nodiscard]] AugmentDraw draw(const Augment& augment, const AugmentKey& key);

}  // namespace roentgen::data
