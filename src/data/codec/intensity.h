// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Presets for the conversion of a DICOM file's stored values to gray levels. Other formats already contain gray levels,
// so every preset leaves them unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roentgen::data {

/// Presets. In all of them larger values are whiter: MONOCHROME1 is inverted.
enum class Intensity : std::uint8_t {
  Stored,    ///< stored values over the range of their bits; no lookup table and no window
  Voi,       ///< modality table or rescale, then VOI table or first window, as a viewer shows the file (PS3.3 C.11)
  Nih,       ///< as Voi, in 8 bits, because NIH made its PNGs with the window of the header (Wang et al., CVPR 2017)
  MimicJpg,  ///< smallest to largest value in 8 bits, equalised (MIMIC-CXR-JPG; github.com/MIT-LCP/mimic-cxr/issues/16)
  Chexpert,  ///< 0 to largest value in 8 bits, equalised (github.com/stanfordmlgroup/chexpert-labeler/issues/11)
  Xrv,       ///< as Stored, but only MONOCHROME1 inverts, not Presentation LUT Shape, as in torchxrayvision
};

/// Name of a preset: "stored", "voi", "nih", "mimic-jpg", "chexpert" or "xrv".
[[nodiscard]] std::string_view name_of(Intensity intensity);
/// Parses a preset's name. Throws ConfigError that lists the choices.
[[nodiscard]] Intensity parse_intensity(std::string_view text);
/// Names of all presets: "stored, voi, ...".
[[nodiscard]] std::string intensity_names();

}  // namespace roentgen::data
