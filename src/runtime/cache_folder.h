// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Folder for files that can be recomputed.
#pragma once

#include <filesystem>
#include <string>

namespace roentgen::runtime {

/// Default cache folder: $XDG_CACHE_HOME/roentgen, else $HOME/.cache/roentgen; neither is created here. Without both
/// variables: roentgen-cache-UID in the folder for temporary files. Other users may have created it, so it is made and
/// checked by make_private_folder(). Empty where that fails; a warning says so once per process.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// Makes a folder and its parents unless it exists, and ensures that nobody else can read or write it. It must be a
/// folder of this user, not a link; its mode becomes 0700. Returns the reason of a failure, for people; empty on
/// success.
[[nodiscard]] std::string make_private_folder(const std::filesystem::path& folder);

/// Folder for temporary files: TMPDIR, or /tmp. ConfigError that names the variable where it is no folder, or where no
/// file can be made in it.
[[nodiscard]] std::filesystem::path temporary_folder();

/// The kind of network file system on which `folder`, or the nearest folder above it that exists, lies: "NFS"; nullptr
/// on any other.
[[nodiscard]] const char* network_file_system(const std::filesystem::path& folder);

}  // namespace roentgen::runtime
