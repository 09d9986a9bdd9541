// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Notes before the first step on what the input of a run leaves out or is slowed by.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace roentgen::train {

/// Images that the updates of an epoch take.
struct EpochUse {
  /// Training images there are.
  std::int64_t images = 0;
  /// Updates of an epoch, and images of all ranks in each.
  std::int64_t updates = 0;
  std::int64_t images_per_update = 0;
  std::int64_t ranks = 1;
};

/// A line where an epoch leaves out as many images as an update takes, or more; else empty.
[[nodiscard]] std::string skipped_note(const EpochUse& use);

/// A line where every epoch reads the data through a network; else empty.
/// @param network kind of the network file system (runtime/cache_folder.h), or null
/// @param keeps_on_disk decoded images stay on a disk of this host
[[nodiscard]] std::string network_note(const char* network, const std::filesystem::path& data, bool keeps_on_disk);

}  // namespace roentgen::train
