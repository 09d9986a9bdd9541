// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Preprocess: the one definition of how a decoded picture becomes a network's input. Read from a recipe, stored in the
// checkpoint, used by training, evaluation, prediction and export alike. transform.h carries it out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::data {

/// Method that makes a picture square.
enum class Fit : std::uint8_t {
  Squash,  ///< each axis is scaled on its own (NIH's own 1024x1024 files are made so)
  Crop,    ///< the largest square in the middle
  Pad,     ///< the smallest square around it, black outside
};

/// Low-pass filter of the resize, stretched by the ratio when shrinking. Formulas in filter.h.
enum class Filter : std::uint8_t {
  Triangle,  ///< Pillow's BILINEAR, torchvision's bilinear with antialias
  Area,      ///< mean over the pixel's footprint, OpenCV's INTER_AREA when shrinking
};

/// Decoded size of JPEG files.
enum class JpegSize : std::uint8_t {
  Exact,  ///< full size, as every other program decodes
  /// where the picture shrinks: the smallest of 1/8, 1/4 and 1/2 of its size with at least one pixel for each output
  Scaled,
  ///< of the output, by libjpeg's reduced inverse DCT (means of 8x8, 4x4, 2x2 pixels); then the resize
};

/// "squash", "crop" or "pad".
[[nodiscard]] std::string_view name_of(Fit fit);
/// Parses a name; ConfigError naming the choices.
[[nodiscard]] Fit parse_fit(std::string_view text);
/// "triangle" or "area".
[[nodiscard]] std::string_view name_of(Filter filter);
/// Parses a name; ConfigError naming the choices.
[[nodiscard]] Filter parse_filter(std::string_view text);
/// "exact" or "scaled".
[[nodiscard]] std::string_view name_of(JpegSize jpeg);
/// Parses a name; ConfigError naming the choices.
[[nodiscard]] JpegSize parse_jpeg_size(std::string_view text);

/// A network's input: x = (v - mean[c]) / stddev[c], where v in [0, 1] is the resized sample divided by the file's
/// white (ImageLayout::max_value). Value type.
struct Preprocess {
  /// Width and height of the input.
  std::int64_t size_px = 224;
  /// Width and height of the fitted picture, of which the input shows `size_px` pixels. These are the middle ones (an
  /// odd remainder rounded down, as Caffe does), or in training any (Augment::is_crop_random). 0: as size_px, all of
  /// it.
  std::int64_t resize_px = 0;
  /// 1 (gray) or 3; a gray picture fills all three.
  int channels = 1;
  Fit fit = Fit::Squash;             ///< how a picture becomes square
  Filter filter = Filter::Triangle;  ///< filter of the resize
  JpegSize jpeg = JpegSize::Scaled;  ///< size at which JPEG files are decoded
  /// Conversion of a DICOM file's stored values to gray levels: a name of codec/intensity.h. Files of other formats are
  /// used as they are.
  std::string intensity = "stored";
  /// (channels), on the [0, 1] scale.
  std::vector<double> mean{0.5};
  std::vector<double> stddev{0.25};  ///< (channels), on the [0, 1] scale

  friend bool operator==(const Preprocess&, const Preprocess&) = default;

  /// Side of the fitted picture: resize_px, or size_px where that is 0.
  [[nodiscard]] std::int64_t fitted_px() const { return resize_px > 0 ? resize_px : size_px; }
  /// Whether the input is only a part of the fitted picture.
  [[nodiscard]] bool is_cut() const { return fitted_px() > size_px; }

  /// Every field, for checkpoint metadata: {size, resize, channels, fit, filter, jpeg, intensity, mean, std}.
  [[nodiscard]] Value to_value() const;
  /// One line for people: "224x224 gray, squash, triangle, scaled JPEG, (v - 0.5) / 0.25 (xray)"; "224x224 of
  /// 256x256 gray, ..." where it is cut; nothing about JPEG where that is exact.
  [[nodiscard]] std::string text() const;
};

/// A named definition; ConfigError naming the known ones.
///   xray      1 channel, mean 0.5, std 0.25: round figures near those of NIH ChestX-ray14 (0.53 and 0.25 over the
///             pixels of 1,384 of its images)
///   imagenet  3 channels, mean 0.485 0.456 0.406, std 0.229 0.224 0.225: torchvision's weights
///   xrv       1 channel, fit = crop, [-1024, 1024]: torchxrayvision's weights
///   unit      1 channel, [0, 1]
[[nodiscard]] Preprocess preset(std::string_view name);
/// Changes the number of channels to 1 or 3: mean and std become their average (3 -> 1) or repeat (1 -> 3). Throws
/// ConfigError otherwise.
[[nodiscard]] Preprocess with_channels(Preprocess preprocess, int channels);
/// The name of the preset whose mean and std these are (at this number of channels), or "" when none.
[[nodiscard]] std::string_view preset_name(const Preprocess& preprocess);

/// Reads a table. `preset` (default "xray") is the start; every other key of to_value() overrides its field. Other
/// `channels` than the preset's go through with_channels(). One mean or std serves all channels. ConfigError on unknown
/// keys or values.
[[nodiscard]] Preprocess preprocess_from_value(const Value& table);

}  // namespace roentgen::data
