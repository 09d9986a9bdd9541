// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Maps the stored values of a DICOM image to gray levels. The formulas are those of PS3.3 C.11.1 (modality) and C.11.2
// (VOI), and the formulas that produced published data sets. Pure functions of numbers; dicom/file.h reads files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/codec/intensity.h"

namespace roentgen::data {

/// Modality LUT or VOI LUT. Entry i is the output for the input first + i; inputs outside the table take the nearest
/// entry.
struct DicomLut {
  std::int64_t first = 0;
  /// Bits of an entry, 8 to 16.
  int bits = 16;
  std::vector<std::uint16_t> entries;
};

/// VOI LUT Function (0028,1056).
enum class VoiFunction : std::uint8_t { Linear, LinearExact, Sigmoid };

/// Window Center (0028,1050) and Width (0028,1051); the first window if the file has several.
struct VoiWindow {
  double center = 0.0;
  /// Width of the window: at least 1 for Linear, above 0 otherwise.
  double width = 1.0;
  VoiFunction function = VoiFunction::Linear;
};

/// How stored values become gray levels, as the header defines it.
struct GrayMeaning {
  /// Bits Stored, 1 to 16.
  int bits_stored = 16;
  bool is_signed = false;
  /// True if Photometric Interpretation is MONOCHROME1.
  bool is_inverted = false;
  /// True if Presentation LUT Shape is INVERSE, which inverts like MONOCHROME1. A file with both is inverted only once.
  /// The preset `xrv` ignores this field.
  bool is_shape_inverse = false;
  double slope = 1.0;
  double intercept = 0.0;
  /// Modality lookup table, which replaces slope and intercept.
  std::optional<DicomLut> modality;
  /// VOI lookup table, applied before the window.
  std::optional<DicomLut> voi;
  std::optional<VoiWindow> window;
  /// Range of stored values without meaning, both ends included: Pixel Padding Value (0028,0120) and its Range Limit
  /// (0028,0121).
  std::optional<std::pair<std::int64_t, std::int64_t>> padding;
};

/// Gray level of every code. A code is a sample's bits_stored bits read as an unsigned number.
struct GrayTable {
  /// (2^bits_stored) gray levels, indexed by code.
  std::vector<std::uint16_t> levels;
  /// Bits of a gray level's container: 8 or 16.
  int bits = 16;
  std::uint32_t max_value = 65535;
};

/// Stored value for a code; read as two's complement if values are signed.
[[nodiscard]] std::int64_t value_of_code(std::uint32_t code, const GrayMeaning& meaning);

/// True if PS3.3 C.11.2.1 defines an output for the window.
[[nodiscard]] bool is_defined(const VoiWindow& window);

/// Output of a window, from 0 to 1. Formulas: PS3.3 C.11.2.1.2 (Linear), C.11.2.1.3.2 (LinearExact), C.11.2.1.3.1
/// (Sigmoid).
[[nodiscard]] double apply_window(const VoiWindow& window, double value);

/// True if the table depends on the file's lookup tables, rescale and windows.
[[nodiscard]] constexpr bool is_viewed(Intensity intensity) {
  return intensity == Intensity::Voi || intensity == Intensity::Nih;
}

/// True if the table depends on how often each code occurs in the image.
[[nodiscard]] constexpr bool needs_counts(Intensity intensity) {
  return intensity == Intensity::MimicJpg || intensity == Intensity::Chexpert;
}

/// Returns the gray table of an image. `counts` (2^bits_stored) is how often each code occurs; it may be empty if
/// needs_counts() is false. Stored and Voi keep the file's precision. Their max_value is 2^bits_stored - 1, or the
/// maximum of the last table's entries, or 65535 after a window.
[[nodiscard]] GrayTable gray_table(const GrayMeaning& meaning, Intensity intensity,
                                   std::span<const std::uint32_t> counts);

/// Histogram equalization as in OpenCV's equalizeHist, as a table of 256 levels. `counts` (256). An image of a single
/// level keeps it.
[[nodiscard]] std::vector<std::uint8_t> equalising_table(std::span<const std::uint64_t> counts);

}  // namespace roentgen::data
