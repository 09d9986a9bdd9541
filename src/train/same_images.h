// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that all ranks read the same images: hosts may hold copies of a data folder that differ.
#pragma once

#include <cstdint>
#include <span>

#include "data/source/dataset.h"
#include "train/ranks.h"

namespace roentgen::train {

/// Number of files whose bytes are compared, spread evenly over all.
inline constexpr std::int64_t kComparedFiles = 256;

/// Requires that all ranks have the same images in the same order, by name, split, patient and labels. Compares also
/// the bytes of kComparedFiles files: their size and three pieces of each. Otherwise all ranks throw ConfigError,
/// naming rank, row and difference.
/// @param samples equal on all ranks, as far as each can tell; files of other samples are not compared
void require_same_images(const Ranks& ranks, const data::Dataset& dataset, std::span<const std::uint32_t> samples);

}  // namespace roentgen::train
