// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Default folders of a user, and folders for files that can be recomputed.
#pragma once

#include <filesystem>
#include <string>

namespace roentgen::runtime {

/// Returns the user's folder that an environment variable of the XDG Base Directory Specification names, such as
/// XDG_DATA_HOME. Without an absolute path in it: `in_home` in $HOME, such as ".local/share". Empty if HOME is no
/// absolute path either.
[[nodiscard]] std::filesystem::path user_folder(const char* variable, const char* in_home);

/// Returns the default cache folder: $XDG_CACHE_HOME/roentgen, else $HOME/.cache/roentgen; neither is created here.
/// Without both variables, it is roentgen-cache-UID in the folder for temporary files. Other users may have created
/// that folder, so it is created and checked by make_private_folder(). If the check fails, the result is empty and a
/// warning is logged once per process.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// Creates a folder and its parents, if absent, and ensures that only this user can read or write it. The folder must
/// belong to this user and must not be a link; its mode becomes 0700. Returns the reason of a failure in words; empty
/// on success.
[[nodiscard]] std::string make_private_folder(const std::filesystem::path& folder);

/// Returns the folder for temporary files: TMPDIR, or /tmp. Throws ConfigError naming the variable if it is not a
/// folder, or if no file can be created in it.
[[nodiscard]] std::filesystem::path temporary_folder();

/// Returns the type of the network file system, such as "NFS", that contains `folder`. If the folder does not exist,
/// checks its nearest parent that does. Returns nullptr for other file systems.
[[nodiscard]] const char* network_file_system(const std::filesystem::path& folder);

}  // namespace roentgen::runtime
