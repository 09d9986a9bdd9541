// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Merges the lists of unreadable training images that different ranks have found.
#pragma once

#include <cstdint>
#include <vector>

namespace roentgen::data {
class Loader;
}

namespace roentgen::train {

class Ranks;

/// Merges the lists of unreadable images of all ranks. An image that any rank could not read since the last call counts
/// as unreadable on all ranks from now on. The rank with a quarantine file writes these images to it. All ranks must
/// call it. All throw DataError if the share of unreadable images exceeds the limit of the loaders.
/// @return all unreadable images known so far, ascending
std::vector<std::uint32_t> unite_bad_images(const Ranks& ranks, data::Loader& loader);

}  // namespace roentgen::train
