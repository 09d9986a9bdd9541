// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Maps the stored values of a DICOM image to gray levels. Formulas: PS3.3 C.11.1 (modality) and C.11.2 (VOI), and those
// by which published data sets were made. Pure functions of numbers; dicom/file.h reads files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/codec/intensity.h"

namespace roentgen::data {

/// Modality LUT or VOI LUT: entry i is the output for the input first + i; inputs beyond take the nearest entry.
struct DicomLut {
  std::int64_t first = 0;
  /// Bits of an entry: 8 to 16.
  int bits = 16;
  std::vector<std::uint16_t> entries;
};

/// VOI LUT Function (0028,1056).
enum class VoiFunction : std::uint8_t { Linear, LinearExact, Sigmoid };

/// Window Center (0028,1050) and Width (0028,1051), the first of several.
struct VoiWindow {
  double center = 0.0;
  /// Width of the window: at least 1 with Linear, above 0 otherwise.
  double width = 1.0;
  VoiFunction function = VoiFunction::Linear;
};

/// Meaning of stored values, as the header defines it.
struct GrayMeaning {
  /// 1 to 16.
  int bits_stored = 16;
  bool is_signed = false;
  /// Photometric Interpretation MONOCHROME1.
  bool is_inverted = false;
  /// Presentation LUT Shape INVERSE: inverts as MONOCHROME1 does. A file with both is inverted once, except for `xrv`.
  bool is_shape_inverse = false;
  double slope = 1.0;
  double intercept = 0.0;
  /// Modality table, which replaces slope and intercept.
  std::optional<DicomLut> modality;
  /// VOI table, applied before the window.
  std::optional<DicomLut> voi;
  std::optional<VoiWindow> window;
  /// Pixel Padding Value (0028,0120), and its Range Limit (0028,0121): stored values of no meaning, both included.
  std::optional<std::pair<std::int64_t, std::int64_t>> padding;
};

/// Gray level of every code. A code is the bits_stored bits of a sample as a number without sign.
struct GrayTable {
  /// (2^bits_stored)
  std::vector<std::uint16_t> levels;
  /// Bits of the image's container: 8 or 16.
  int bits = 16;
  std::uint32_t max_value = 65535;
};

/// Stored value of a code: two's complement if values are signed.
[[nodiscard]] std::int64_t value_of_code(std::uint32_t code, const GrayMeaning& meaning);

/// Whether PS3.3 C.11.2.1 defines an output for the window.
[[nodiscard]] bool is_defined(const VoiWindow& window);

/// PS3.3 C.11.2.1.2 (Linear), C.11.2.1.3.2 (LinearExact), C.11.2.1.3.1 (Sigmoid), on an output range of 0 to 1.
[[nodiscard]] double apply_window(const VoiWindow& window, double value);

/// True if the table depends on the file's lookup tables, rescale and windows.
[[nodiscard]] constexpr bool is_viewed(Intensity intensity) {
  return intensity == Intensity::Voi || intensity == Intensity::Nih;
}

/// Does the table depend on how often each code occurs?
[[nodiscard]] constexpr bool needs_counts(Intensity intensity) {
  return intensity == Intensity::MimicJpg || intensity == Intensity::Chexpert;
}

/// The table of an image; `counts` (2^bits_stored, or empty where needs_counts() is false) is how often each code
/// occurs in it. Stored and Voi keep the file's precision: max_value is 2^bits_stored - 1, or that of the last table's
/// entries, or 65535 behind a window.
[[nodiscard]] GrayTable gray_table(const GrayMeaning& meaning, Intensity intensity,
                                   std::span<const std::uint32_t> counts);

/// OpenCV's equalizeHist as a table of 256 levels; `counts` (256). A picture of one level keeps it.
[[nodiscard]] std::vector<std::uint8_t> equalising_table(std::span<const std::uint64_t> counts);

}  // namespace roentgen::data
