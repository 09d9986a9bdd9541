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

/// Reads and decodes these samples for their hashes, as a network of that preprocessing gets them: each of 1 and 3
/// channels knows an image by pixels of its own, and each intensity a DICOM file. "" of an image that cannot be read.
/// One thread.
[[nodiscard]] std::vector<std::string> read_hashes(const Dataset& dataset, std::span<const std::uint32_t> samples,
                                                   const Preprocess& preprocess);

}  // namespace roentgen::data
