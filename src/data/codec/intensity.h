// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of the stored values of a DICOM file to gray levels. Files of other formats were converted when they were
// made, so every preset leaves them unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roentgen::data {

/// Names of treatments. In all of them more is whiter: MONOCHROME1 is inverted.
enum class Intensity : std::uint8_t {
  Stored,    ///< stored values over the range of their bits; no table, no window
  Voi,       ///< modality table or rescale, then VOI table or first window, as a viewer shows the file (PS3.3 C.11)
  Nih,       ///< voi in 8 bits: NIH's PNGs were made with the window of the header (Wang et al., CVPR 2017)
  MimicJpg,  ///< least to greatest value in 8 bits, equalised (MIMIC-CXR-JPG; github.com/MIT-LCP/mimic-cxr/issues/16)
  Chexpert,  ///< 0 to greatest value in 8 bits, equalised (github.com/stanfordmlgroup/chexpert-labeler/issues/11)
  Xrv,       ///< stored, but only MONOCHROME1 inverts, not Presentation LUT Shape, as in torchxrayvision
};

/// "stored", "voi", "nih", "mimic-jpg", "chexpert", "xrv".
[[nodiscard]] std::string_view name_of(Intensity intensity);
/// Parses a name; ConfigError naming the choices.
[[nodiscard]] Intensity parse_intensity(std::string_view text);
/// Names of all intensities: "stored, voi, ...".
[[nodiscard]] std::string intensity_names();

}  // namespace roentgen::data
