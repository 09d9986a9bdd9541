// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that all ranks read the same images, because the copies of a data folder on several hosts may differ.
#pragma once

#include <cstdint>
#include <span>

#include "data/source/dataset.h"
#include "train/ranks.h"

namespace roentgen::train {

/// Number of files whose bytes are compared, spread evenly over all samples.
inline constexpr std::int64_t kComparedFiles = 256;

/// Throws ConfigError on all ranks, naming rank, image and difference, unless all ranks have the same images in the
/// same order. Compares name, split, patient and labels of every sample. Compares also the size and three pieces of the
/// bytes of kComparedFiles files.
/// @param samples indices of the samples whose files may be compared; all ranks must pass the same list
void require_same_images(const Ranks& ranks, const data::Dataset& dataset, std::span<const std::uint32_t> samples);

}  // namespace roentgen::train
