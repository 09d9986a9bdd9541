// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The film of a study: the storage format of its gray values, and marks on the film. Marks are lead markers, the black
// frame of the collimator, and inverted gray values (docs/reference/synthetic.md, "Film"). The study's key determines
// all marks. An option that is off does not change pixels or random draws.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "synth/canvas.h"

namespace roentgen::synth {

/// Format of a stored image. All formats round the same values of the film curve.
enum class Form : std::uint8_t {
  Png8,   ///< 8-bit gray PNG, 0 to 255
  Png16,  ///< 16-bit gray PNG, 0 to 65535
  Png12,  ///< 12 bits, 0 to 4095, in a 16-bit gray PNG with an sBIT chunk
  Jpeg,   ///< 8-bit gray JPEG
};

/// Name of a storage format on the command line.
struct FormName {
  std::string_view name;
  Form form;
};
inline constexpr std::array kForms{FormName{"png8", Form::Png8}, FormName{"png16", Form::Png16},
                                   FormName{"png12", Form::Png12}, FormName{"jpeg", Form::Jpeg}};

/// Storage format of this name. Throws ConfigError for unknown names.
[[nodiscard]] Form form_of(std::string_view name);
[[nodiscard]] std::string_view name_of(Form form);
/// File name ending of the format: ".png" or ".jpg".
[[nodiscard]] std::string_view extension_of(Form form);
/// Stored value of white: 255, 4095 or 65535.
[[nodiscard]] int white_of(Form form);

/// Format of films and marks on them.
struct FilmOptions {
  Form form = Form::Png8;
  /// Quality of JPEG files, 1 to 100.
  int jpeg_quality = 92;
  /// Share of the images, 0 to 1, that have a lead marker "L" or "R". The next two are the shares with inverted gray
  /// values and with a black frame.
  double markers = 0.0;
  double inverted = 0.0;
  double collimated = 0.0;
};

/// True if any of the shares of marks is above 0.
[[nodiscard]] bool has_marks(const FilmOptions& options);

/// Throws ConfigError if the quality or a share is out of range.
void validate(const FilmOptions& options);

/// A lead letter on the film. Its position is in mm from the left and top edge of the field.
struct Marker {
  /// 'L' on the patient's left side, which is the right side of the image; 'R' on the patient's right side.
  char letter = 'L';
  double center_x_mm = 0.0;
  double center_y_mm = 0.0;
  double height_mm = 12.0;
  /// Slant of the letter: x / y along its upright stroke.
  double lean = 0.0;
  /// Brightness as a share of white where lead covers the whole pixel.
  double cover = 1.0;
};

/// Marks on one film.
struct FilmMarks {
  bool is_inverted = false;
  std::optional<Marker> marker;
  /// Area that the collimator leaves open, in mm from the left and top edge of the field; nullopt: the whole field.
  std::optional<Rect> open;
};

/// Draws the marks on the film of a study. One option does not change the random draws of another. A larger share adds
/// marks to more films, and keeps the marks that a smaller share gives.
[[nodiscard]] FilmMarks draw_marks(const StudyKey& key, const FilmOptions& options, double field_mm);

/// Returns the pixels whose centre lies in the collimator's open area marks.open; all pixels if there is no frame.
[[nodiscard]] PixelRect open_pixels(const FilmMarks& marks, std::int64_t size_px, double field_mm);

/// Returns the intersection of a box with the open area; empty if the frame hides the box.
[[nodiscard]] PixelRect cut(const PixelRect& box, const PixelRect& open);

/// Sets the pixels of a mask (size, size) outside of the open area to 0.
void close(std::span<std::uint8_t> mask, const PixelRect& open, std::int64_t size_px);

/// Draws marker and frame on film curve values, (size, size) from 0 to 1. Does not invert gray values; quantise_8() and
/// quantise_16() do.
void put_marks(std::vector<float>& gray, const FilmMarks& marks, std::int64_t size_px, double field_mm);

/// Quantises every value v of the film curve to round(white * v), or to white minus that if inverted. White is 255.
[[nodiscard]] std::vector<std::uint8_t> quantise_8(std::span<const float> gray, bool is_inverted = false);
[[nodiscard]] std::vector<std::uint16_t> quantise_16(std::span<const float> gray, int white, bool is_inverted = false);

}  // namespace roentgen::synth
