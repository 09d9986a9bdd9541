// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Preprocess: defines how a decoded picture becomes a network's input. It is read from a recipe and stored in the
// checkpoint. Training, evaluation, prediction and export all use it. transform.h implements it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::data {

/// How a picture is made square.
enum class Fit : std::uint8_t {
  Squash,  ///< each axis is scaled separately (as in NIH's 1024x1024 files)
  Crop,    ///< cuts out the largest square in the centre
  Pad,     ///< extends to the smallest enclosing square; black outside
};

/// Low-pass filter of the resize; it becomes wider when the picture shrinks. Formulas are in filter.h.
enum class Filter : std::uint8_t {
  Triangle,  ///< as Pillow's BILINEAR and torchvision's bilinear with antialias
  Area,      ///< mean over the pixel's footprint, as OpenCV's INTER_AREA when shrinking
};

/// Size at which JPEG files are decoded.
enum class JpegSize : std::uint8_t {
  Exact,  ///< full size, as in every other program
  /// Decodes a picture at 1/8, 1/4 or 1/2 of its size if the resize makes it smaller anyway. Takes the smallest size
  /// with at least one pixel per output pixel. Uses libjpeg's reduced inverse DCT (means of 8x8, 4x4 or 2x2 pixels);
  /// the resize follows.
  Scaled,
};

/// Name of a fit: "squash", "crop" or "pad".
[[nodiscard]] std::string_view name_of(Fit fit);
/// Parses the name of a fit. Throws ConfigError that lists the choices.
[[nodiscard]] Fit parse_fit(std::string_view text);
/// Name of a filter: "triangle" or "area".
[[nodiscard]] std::string_view name_of(Filter filter);
/// Parses the name of a filter. Throws ConfigError that lists the choices.
[[nodiscard]] Filter parse_filter(std::string_view text);
/// Name of a JPEG size: "exact" or "scaled".
[[nodiscard]] std::string_view name_of(JpegSize jpeg);
/// Parses the name of a JPEG size. Throws ConfigError that lists the choices.
[[nodiscard]] JpegSize parse_jpeg_size(std::string_view text);

/// A network's input: x = (v - mean[c]) / stddev[c], where v in [0, 1] is the resized sample divided by the file's
/// white (ImageLayout::max_value). Value type.
struct Preprocess {
  /// Width and height of the input in px.
  std::int64_t size_px = 224;
  /// Width and height of the fitted picture in px, from which the input cuts `size_px` pixels. The cut is in the centre
  /// (an odd remainder is rounded down, as in Caffe), or random in training (Augment::is_crop_random). 0: as size_px,
  /// without a cut.
  std::int64_t resize_px = 0;
  /// Number of channels: 1 (gray) or 3; a gray picture is copied to all three.
  int channels = 1;
  Fit fit = Fit::Squash;             ///< how a picture becomes square
  Filter filter = Filter::Triangle;  ///< filter of the resize
  JpegSize jpeg = JpegSize::Scaled;  ///< size at which JPEG files are decoded
  /// How a DICOM file's stored values become gray levels: a name in codec/intensity.h. Files of other formats are not
  /// changed.
  std::string intensity = "stored";
  /// (channels) mean, on the [0, 1] scale.
  std::vector<double> mean{0.5};
  std::vector<double> stddev{0.25};  ///< (channels) standard deviation, on the [0, 1] scale

  friend bool operator==(const Preprocess&, const Preprocess&) = default;

  /// Side of the fitted picture in px: resize_px, or size_px if that is 0.
  [[nodiscard]] std::int64_t fitted_px() const { return resize_px > 0 ? resize_px : size_px; }
  /// True if the input is only a part of the fitted picture.
  [[nodiscard]] bool is_cut() const { return fitted_px() > size_px; }

  /// Table of all fields, for checkpoint metadata: {size, resize, channels, fit, filter, jpeg, intensity, mean, std}.
  [[nodiscard]] Value to_value() const;
  /// One line such as "224x224 gray, squash, triangle, scaled JPEG, (v - 0.5) / 0.25 (xray)". With a cut it begins with
  /// "224x224 of 256x256 gray". It does not mention JPEG if that is exact.
  [[nodiscard]] std::string text() const;
};

/// Returns a named definition. Throws ConfigError that lists the known names.
///   xray      1 channel, mean 0.5, std 0.25: rounded from NIH ChestX-ray14 (0.53 and 0.25 over the pixels of 1,384
///             of its images)
///   imagenet  3 channels, mean 0.485 0.456 0.406, std 0.229 0.224 0.225: torchvision's weights
///   xrv       1 channel, fit = crop, [-1024, 1024]: torchxrayvision's weights
///   unit      1 channel, [0, 1]
[[nodiscard]] Preprocess preset(std::string_view name);
/// Changes the number of channels to 1 or 3: mean and std become their average (3 -> 1) or are repeated (1 -> 3).
/// Throws ConfigError for other numbers.
[[nodiscard]] Preprocess with_channels(Preprocess preprocess, int channels);
/// Name of the preset that has this mean and std at this number of channels; empty if there is none.
[[nodiscard]] std::string_view preset_name(const Preprocess& preprocess);

/// Reads a table. `preset` (default "xray") is the start; every other key of to_value() overrides its field. If
/// `channels` differs from the preset's, with_channels() is applied. One mean or std serves all channels. Throws
/// ConfigError for unknown keys or invalid values.
[[nodiscard]] Preprocess preprocess_from_value(const Value& table);

}  // namespace roentgen::data
