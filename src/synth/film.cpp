// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/film.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"

namespace roentgen::synth {
namespace {
// Channels of a study's random stream, one per film option, so that an option does not change the draws of another
// option.
constexpr std::uint32_t kMarkerChannel = 0, kInvertedChannel = 1, kCollimatorChannel = 2;

// Stroke width of a letter as a share of its height.
constexpr double kStroke = 0.16;

struct Stroke {
  Point from, to;
};
// Strokes of the letters in a box from (-0.3, -0.5) to (0.3, 0.5), y downwards.
constexpr std::array kLetterL{Stroke{{-0.3, -0.5}, {-0.3, 0.5}}, Stroke{{-0.3, 0.5}, {0.3, 0.5}}};
constexpr std::array kLetterR{Stroke{{-0.3, -0.5}, {-0.3, 0.5}},   Stroke{{-0.3, -0.5}, {0.1, -0.5}},
                              Stroke{{0.1, -0.5}, {0.26, -0.42}},  Stroke{{0.26, -0.42}, {0.3, -0.25}},
                              Stroke{{0.3, -0.25}, {0.26, -0.08}}, Stroke{{0.26, -0.08}, {0.1, 0.0}},
                              Stroke{{0.1, 0.0}, {-0.3, 0.0}},     Stroke{{0.05, 0.0}, {0.3, 0.5}}};

std::span<const Stroke> strokes_of(char letter) {
  return letter == 'L' ? std::span<const Stroke>(kLetterL) : std::span<const Stroke>(kLetterR);
}

double distance(const Stroke& stroke, double x, double y) {
  const double dx = stroke.to.x_mm - stroke.from.x_mm, dy = stroke.to.y_mm - stroke.from.y_mm;
  const double t =
      std::clamp(((x - stroke.from.x_mm) * dx + (y - stroke.from.y_mm) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  const double ex = x - stroke.from.x_mm - t * dx, ey = y - stroke.from.y_mm - t * dy;
  return std::sqrt(ex * ex + ey * ey);
}

[[noreturn]] void refuse(std::string_view what, std::string_view expected, const std::string& got) {
  throw ConfigError(error_text("synth.film", what, expected, got, "roentgen synth --help"));
}

void check_share(std::string_view what, double share) {
  if (!(share >= 0.0 && share <= 1.0)) refuse(what, "a share of the images, 0 to 1", fmt::format("{}", share));
}

void put_marker(std::vector<float>& gray, const Marker& marker, std::int64_t size, double pixel_mm) {
  const double reach_mm = marker.height_mm;
  const auto bound = [&](double at_mm) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(at_mm / pixel_mm)), 0, size);
  };
  for (std::int64_t row = bound(marker.center_y_mm - reach_mm); row < bound(marker.center_y_mm + reach_mm); ++row) {
    const double y = ((static_cast<double>(row) + 0.5) * pixel_mm - marker.center_y_mm) / marker.height_mm;
    for (std::int64_t column = bound(marker.center_x_mm - reach_mm); column < bound(marker.center_x_mm + reach_mm);
         ++column) {
      const double at_mm = (static_cast<double>(column) + 0.5) * pixel_mm - marker.center_x_mm;
      const double x = at_mm / marker.height_mm - marker.lean * y;
      double nearest = 1e9;
      for (const Stroke& stroke : strokes_of(marker.letter)) nearest = std::min(nearest, distance(stroke, x, y));
      // Share of the pixel that the stroke covers; the edge of the stroke is treated as a straight line.
      const double inside_px = (0.5 * kStroke - nearest) * marker.height_mm / pixel_mm;
      const double widest = std::min(1.0, kStroke * marker.height_mm / pixel_mm);
      const auto cover = static_cast<float>(marker.cover * std::clamp(inside_px + 0.5, 0.0, widest));
      float& pixel = gray[static_cast<std::size_t>(row * size + column)];
      pixel += cover * (1.0F - pixel);
    }
  }
}

template <typename T>
void keep_open(std::span<T> image, const PixelRect& open, std::int64_t size) {
  for (std::int64_t row = 0; row < size; ++row) {
    for (std::int64_t column = 0; column < size; ++column) {
      const bool is_open = row >= open.top && row < open.bottom && column >= open.left && column < open.right;
      if (!is_open) image[static_cast<std::size_t>(row * size + column)] = T{};
    }
  }
}
}  // namespace

Form form_of(std::string_view name) {
  for (const FormName& entry : kForms) {
    if (entry.name == name) return entry.form;
  }
  refuse("form", "png8, png16, png12 or jpeg", fmt::format("'{}'", name));
}

std::string_view name_of(Form form) { return kForms.at(static_cast<std::size_t>(form)).name; }

std::string_view extension_of(Form form) { return form == Form::Jpeg ? ".jpg" : ".png"; }

int white_of(Form form) {
  if (form == Form::Png16) return 65535;
  return form == Form::Png12 ? 4095 : 255;
}

bool has_marks(const FilmOptions& options) {
  return options.markers > 0.0 || options.inverted > 0.0 || options.collimated > 0.0;
}

void validate(const FilmOptions& options) {
  if (options.jpeg_quality < 1 || options.jpeg_quality > 100) {
    refuse("quality", "1 to 100", fmt::format("{}", options.jpeg_quality));
  }
  check_share("markers", options.markers);
  check_share("inverted", options.inverted);
  check_share("collimated", options.collimated);
}

FilmMarks draw_marks(const StudyKey& key, const FilmOptions& options, double field_mm) {
  FilmMarks marks;
  Random inverted = study_stream(key, RandomStage::SynthFilm, kInvertedChannel);
  marks.is_inverted = inverted.chance(options.inverted);
  Random frame = study_stream(key, RandomStage::SynthFilm, kCollimatorChannel);
  if (frame.chance(options.collimated)) {
    const double left = frame.uniform(0.005, 0.07), right = frame.uniform(0.005, 0.07);
    const double top = frame.uniform(0.005, 0.06), bottom = frame.uniform(0.005, 0.08);
    marks.open = Rect{left * field_mm, top * field_mm, (1.0 - right) * field_mm, (1.0 - bottom) * field_mm};
  }
  Random random = study_stream(key, RandomStage::SynthFilm, kMarkerChannel);
  if (random.chance(options.markers)) {
    Marker marker;
    marker.letter = random.chance(0.6) ? 'L' : 'R';
    marker.height_mm = random.uniform(10.0, 20.0);
    // Random position above the shoulder or next to the flank, inside the collimator's frame if there is one.
    const double from_side = random.uniform(0.11, 0.17);
    marker.center_x_mm = (marker.letter == 'L' ? 1.0 - from_side : from_side) * field_mm;
    marker.center_y_mm = (random.chance(0.8) ? random.uniform(0.11, 0.2) : random.uniform(0.6, 0.85)) * field_mm;
    marker.lean = random.uniform(-0.25, 0.25);
    marker.cover = random.uniform(0.7, 1.0);
    marks.marker = marker;
  }
  return marks;
}

PixelRect open_pixels(const FilmMarks& marks, std::int64_t size_px, double field_mm) {
  if (!marks.open) return {0, 0, size_px, size_px};
  const double per_mm = static_cast<double>(size_px) / field_mm;
  // Index of the first pixel whose centre lies inside the open area: the first index at or after edge - 0.5.
  const auto edge = [&](double at_mm) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(at_mm * per_mm - 0.5)), 0, size_px);
  };
  return {edge(marks.open->left_mm), edge(marks.open->top_mm), edge(marks.open->right_mm), edge(marks.open->bottom_mm)};
}

PixelRect cut(const PixelRect& box, const PixelRect& open) {
  const PixelRect both{std::max(box.left, open.left), std::max(box.top, open.top), std::min(box.right, open.right),
                       std::min(box.bottom, open.bottom)};
  return box.empty() || both.empty() ? PixelRect{} : both;
}

void close(std::span<std::uint8_t> mask, const PixelRect& open, std::int64_t size_px) {
  keep_open(mask, open, size_px);
}

void put_marks(std::vector<float>& gray, const FilmMarks& marks, std::int64_t size_px, double field_mm) {
  if (marks.marker) put_marker(gray, *marks.marker, size_px, field_mm / static_cast<double>(size_px));
  if (!marks.open) return;
  const PixelRect open = open_pixels(marks, size_px, field_mm);
  keep_open(std::span(gray), open, size_px);
}

std::vector<std::uint8_t> quantise_8(std::span<const float> gray, bool is_inverted) {
  std::vector<std::uint8_t> values(gray.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<std::uint8_t>(gray[i] * 255.0F + 0.5F);
    values[i] = static_cast<std::uint8_t>(is_inverted ? 255 - value : value);
  }
  return values;
}

std::vector<std::uint16_t> quantise_16(std::span<const float> gray, int white, bool is_inverted) {
  std::vector<std::uint16_t> values(gray.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int value = static_cast<int>(static_cast<double>(gray[i]) * white + 0.5);
    values[i] = static_cast<std::uint16_t>(is_inverted ? white - value : value);
  }
  return values;
}

}  // namespace roentgen::synth
