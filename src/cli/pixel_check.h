// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// No figure of images that the weights were trained on, under whatever name: the check by pixels, as `eval` and
// `predict` make it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/pixel_hashes.h"
#include "data/transform/preprocess.h"
#include "eval/leak.h"

namespace roentgen::cli {

/// What is done where images were trained on.
enum class OnOverlap : std::uint8_t { Refuse, Warn };

/// Counts `tested` images among those trained on, both by data::pixel_hash_text() ("": blank, or not read). Prints one
/// line where there is none. Throws DataError, or warns, where there are some.
eval::PixelOverlap check_pixels(std::span<const std::string> training, std::span<const std::string> tested,
                                OnOverlap on_overlap);

/// Hashes of these samples, filled by the workers that decoded them.
[[nodiscard]] std::vector<std::string> hash_texts(const data::PixelHashes& hashes,
                                                  std::span<const std::uint32_t> samples);

/// Reads and decodes these samples for their hashes, as a network of that preprocessing gets them: each of 1 and 3
/// channels knows an image by pixels of its own, and each intensity a DICOM file. "" of an image that cannot be read.
/// One thread.
[[nodiscard]] std::vector<std::string> read_hashes(const data::Dataset& dataset, std::span<const std::uint32_t> samples,
                                                   const data::Preprocess& preprocess);

}  // namespace roentgen::cli
