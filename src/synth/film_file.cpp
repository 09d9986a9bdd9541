// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/film_file.h"

#include <fstream>
#include <utility>

#include "core/error.h"
#include "io/jpeg_writer.h"
#include "io/png_writer.h"

namespace roentgen::synth {

std::vector<std::uint16_t> widen_12(std::vector<std::uint16_t> values) {
  for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(value * 16 + value / 256);
  return values;
}

std::vector<std::byte> encode_film(const Study& study, const FilmOptions& film, int png_level) {
  const bool is_inverted = study.marks.is_inverted;
  if (film.form == Form::Jpeg) {
    return io::encode_jpeg({.width_px = study.size_px, .height_px = study.size_px, .pixels = study.pixels},
                           film.jpeg_quality);
  }
  io::PngImage png{.width_px = study.size_px, .height_px = study.size_px};
  std::vector<std::uint16_t> wide;
  if (film.form == Form::Png8) {
    png.pixels = std::as_bytes(std::span(study.pixels));
  } else {
    wide = quantise_16(study.gray, white_of(film.form), is_inverted);
    if (film.form == Form::Png12) {
      wide = widen_12(std::move(wide));
      png.significant_bits = 12;
    }
    png.bits = 16;
    png.pixels = std::as_bytes(std::span(wide));
  }
  return io::encode_png(png, png_level);
}

void write_set_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    throw DataError(
        error_text("synth.out", path.string(), "a file that can be written", "a write error", "freeing disk space"));
  }
}

}  // namespace roentgen::synth
