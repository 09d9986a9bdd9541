// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files of what is known of an image beyond its labels: masks of its findings, and folders of
// pairs.
#pragma once

#include <filesystem>

#include "synth/layout.h"

namespace roentgen::synth {

/// Folder of masks in a data set: kMaskFolder/<Finding>/<image>.png.
inline constexpr std::string_view kMaskFolder = "masks";

/// Makes what `options` ask for: kMaskFolder and kPairFolder with a folder for each finding. DataError when they cannot
/// be made.
void make_truth_folders(const SynthOptions& options);

/// Writes the masks of an image: 8-bit gray PNG of its size, 255 inside and 0 outside, one for each finding that is
/// there, labelled or not. DataError when a file cannot be written. Thread-safe.
void write_masks(const std::filesystem::path& out, const Entry& entry);

}  // namespace roentgen::synth
