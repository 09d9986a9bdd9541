// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A study's film as the bytes of an image file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "synth/study.h"

namespace roentgen::synth {

/// The samples of a 16-bit PNG with 12 significant bits: v * 16 + v / 256 for v from 0 to 4095. The PNG specification
/// scales samples up this way ("sample depth scaling"), so a reader of 16 bits sees the right gray. `sample >> 4` is v
/// again.
[[nodiscard]] std::vector<std::uint16_t> widen_12(std::vector<std::uint16_t> values);

/// Encodes the film in the form that is asked for, inverted where study.marks says so. `png_level` 1 to 9 (zlib); 6
/// with every filter tried per row is what NIH's own files were written with. The same bytes for the same study and
/// library versions. Thread-safe.
[[nodiscard]] std::vector<std::byte> encode_film(const Study& study, const FilmOptions& film, int png_level);

/// Writes one of many files of a data set. Not atomic and not synced, because that is slow for thousands of small
/// files; the tables are written last. DataError when it cannot be written.
void write_set_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace roentgen::synth
