// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Hashes of listed samples' pixels as text, for the check that no image is in training and test.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/source/dataset.h"
#include "data/stage/pixel_hashes.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// pixel_hash_text() of these samples (indices), filled by the workers that decoded them; "" of a blank image or one
/// that was not decoded.
[[nodiscard]] std::vector<std::string> hash_texts(const PixelHashes& hashes, std::span<const std::uint32_t> samples);

/// Reads and decodes these samples and returns their pixel hashes after the network's preprocessing. Hashes differ
/// between 1 and 3 channels, and between intensities of a DICOM file. "" for an image that cannot be read. One thread.
[[nodiscard]] std::vector<std::string> read_hashes(const Dataset& dataset, std::span<const std::uint32_t> samples,
                                                   const Preprocess& preprocess);

}  // namespace roentgen::data
