// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Where what can be made again is kept.
#pragma once

#include <filesystem>
#include <string>

namespace roentgen::runtime {

/// $XDG_CACHE_HOME/roentgen, else $HOME/.cache/roentgen, which are not made; else roentgen-cache-UID in the folder for
/// temporary files, where others may have put it: it is made, and checked by make_private_folder(). Empty where that
/// fails, which is told once a process.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// Makes a folder with its parents unless it is there, and sees to it that nobody else can read or write it: it has to
/// be a folder, no link, and this user's, and gets the mode 0700. Returns what is wrong instead, for people; empty:
/// nothing.
[[nodiscard]] std::string make_private_folder(const std::filesystem::path& folder);

/// Folder for temporary files: TMPDIR, or /tmp. ConfigError that names the variable where it is no folder, or where no
/// file can be made in it.
[[nodiscard]] std::filesystem::path temporary_folder();

/// The kind of network file system on which `folder`, or the nearest folder above it that exists, lies: "NFS"; nullptr
/// on any other.
[[nodiscard]] const char* network_file_system(const std::filesystem::path& folder);

}  // namespace roentgen::runtime
