// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Encodes a study's film as an image file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "synth/study.h"

namespace roentgen::synth {

/// Converts 12-bit values v to samples of a 16-bit PNG with 12 significant bits: v * 16 + v / 256. The PNG
/// specification scales samples this way ("sample depth scaling"), so that 16-bit readers see the right gray level.
/// `sample >> 4` gives v again.
[[nodiscard]] std::vector<std::uint16_t> widen_12(std::vector<std::uint16_t> values);

/// Encodes the film in the requested format, inverted if study.marks says so. `png_level` is the zlib level, 1 to 9.
/// NIH's own files were written with level 6 and with every filter tried per row. Returns the same bytes for the same
/// study and library versions. Thread-safe.
[[nodiscard]] std::vector<std::byte> encode_film(const Study& study, const FilmOptions& film, int png_level);

/// Writes one of many files of a data set. The write is neither atomic nor synced to disk, which would be slow for
/// thousands of small files. A data set is complete only if its tables exist, which are written last. Throws DataError
/// if the file cannot be written.
void write_set_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace roentgen::synth
