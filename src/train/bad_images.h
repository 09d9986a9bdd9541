// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Unreadable training images of several ranks, each of which meets its own.
#pragma once

#include <cstdint>
#include <vector>

namespace roentgen::data {
class Loader;
}

namespace roentgen::train {

class Ranks;

/// Merges the bad images of all ranks: images that any rank has met since the last call count on all of them from now
/// on. The rank with a quarantine file writes them. All ranks must call it. All throw DataError beyond the share that
/// the loaders tolerate.
/// @return all images that are known by now, ascending
std::vector<std::uint32_t> unite_bad_images(const Ranks& ranks, data::Loader& loader);

}  // namespace roentgen::train
