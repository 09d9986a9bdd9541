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

/// What any rank has met since the last call counts on all of them from now on, and stands in the quarantine file of
/// the rank that has one. All ranks call it. DataError, of all, beyond the share that the loaders bear.
/// @return all that are known by now, ascending
std::vector<std::uint32_t> unite_bad_images(const Ranks& ranks, data::Loader& loader);

}  // namespace roentgen::train
