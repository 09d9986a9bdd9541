// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Where what can be made again is kept.
#pragma once

#include <filesystem>

namespace roentgen::runtime {

/// $XDG_CACHE_HOME/roentgen, else $HOME/.cache/roentgen, else roentgen-cache in the folder for temporary files. Not
/// made.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// The kind of network file system on which `folder`, or the nearest folder above it that exists, lies: "NFS"; nullptr
/// on any other.
[[nodiscard]] const char* network_file_system(const std::filesystem::path& folder);

}  // namespace roentgen::runtime
