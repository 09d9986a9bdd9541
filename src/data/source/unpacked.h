// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Gzipped record files: nothing in them can be found by its place, so they are unpacked once, into the cache folder.
// For src/data/source only.
#pragma once

#include <filesystem>

namespace roentgen::data {

/// `path` when it is not gzipped; else that file unpacked, below `cache_folder`, where it stays for the next time,
/// under a name made of its path and file_state(): another file of that name is unpacked anew, and so is one whose
/// unpacked copy is no longer as it was written. Written in one piece or not at all. DataError: a damaged file, one
/// that is cut short meanwhile or of more than 100 times its size and 64 MiB, no room, no folder that is this user's
/// alone.
/// @param cache_folder empty: none
[[nodiscard]] std::filesystem::path unpacked(const std::filesystem::path& path,
                                             const std::filesystem::path& cache_folder);

}  // namespace roentgen::data
