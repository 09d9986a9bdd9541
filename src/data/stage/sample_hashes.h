// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Hashes of samples' pixels as text, used to detect images that are in both training and test data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/pixel_hashes.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// Returns pixel_hash_text() of these samples (indices). The workers that decoded them filled `hashes`. Empty text for
/// blank images and images that were not decoded.
[[nodiscard]] std::vector<std::string> hash_texts(const PixelHashes& hashes, std::span<const std::uint32_t> samples);

/// Reads and decodes these samples and returns their pixel hashes, with the channels and DICOM intensity of
/// `preprocess`. Hashes differ between 1 and 3 channels and between intensities. Empty text for an image that cannot be
/// read. Not thread-safe.
[[nodiscard]] std::vector<std::string> read_hashes(const Dataset& dataset, std::span<const std::uint32_t> samples,
                                                   const Preprocess& preprocess);

}  // namespace roentgen::data
