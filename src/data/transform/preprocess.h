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

/// How a picture that is not square becomes square.
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

/// "squash", "crop", "pad"; and back, ConfigError naming the choices.
[[nodiscard]] std::string_view name_of(Fit fit);
[[nodiscard]] Fit parse_fit(std::string_view text);
/// "triangle", "area"; and back.
[[nodiscard]] std::string_view name_of(Filter filter);
[[nodiscard]] Filter parse_filter(std::string_view text);

/// A network's input: x = (v - mean[c]) / stddev[c], where v in [0, 1] is the resized sample divided by the file's
/// white (ImageLayout::max_value). Value type.
struct Preprocess {
  /// Width and height of the input.
  std::int64_t size_px = 224;
  /// 1 (gray) or 3; a gray picture fills all three.
  int channels = 1;
  Fit fit = Fit::Squash;
  Filter filter = Filter::Triangle;
  /// How the stored values of a DICOM file become gray levels: a name of codec/intensity.h. Files of other formats are
  /// taken as they are.
  std::string intensity = "stored";
  /// (channels), on the [0, 1] scale.
  std::vector<double> mean{0.5};
  std::vector<double> stddev{0.25};

  friend bool operator==(const Preprocess&, const Preprocess&) = default;

  /// Every field, for checkpoint metadata: {size, channels, fit, filter, intensity, mean, std}.
  [[nodiscard]] Value to_value() const;
  /// One line for people: "224x224 gray, squash, triangle, (v - 0.5) / 0.25 (xray)".
  [[nodiscard]] std::string text() const;
};

/// A named definition; ConfigError naming the known ones.
///   xray      1 channel, mean 0.5, std 0.25: round figures near those of NIH ChestX-ray14 (0.53 and 0.25 over the
///             pixels of 1,384 of its images)
///   imagenet  3 channels, mean 0.485 0.456 0.406, std 0.229 0.224 0.225: torchvision's weights
///   xrv       1 channel, fit = crop, [-1024, 1024]: torchxrayvision's weights
///   unit      1 channel, [0, 1]
[[nodiscard]] Preprocess preset(std::string_view name);
/// The same with 1 or 3 channels: mean and std become their average (3 -> 1) or repeat (1 -> 3). ConfigError otherwise.
[[nodiscard]] Preprocess with_channels(Preprocess preprocess, int channels);
/// The name of the preset whose mean and std these are (at this number of channels), or "" when none.
[[nodiscard]] std::string_view preset_name(const Preprocess& preprocess);

/// Reads a table. `preset` (default "xray") is the start; every other key of to_value() overrides its field. Other
/// `channels` than the preset's go through with_channels(). One mean or std serves all channels. ConfigError on unknown
/// keys or values.
[[nodiscard]] Preprocess preprocess_from_value(const Value& table);

}  // namespace roentgen::data
