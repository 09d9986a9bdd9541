// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Gzipped record files: nothing in them can be found by its place, so they are unpacked once, into the cache folder.
// For src/data/source only.
#pragma once

#include <filesystem>

namespace roentgen::data {

/// Returns `path` when the file is not gzipped; else the path of its unpacked copy below `cache_folder`. The copy's
/// name is made of path and file_state(), so a changed file is unpacked anew. So is a file whose copy was changed.
/// Written atomically; it stays for later runs.
/// Throws DataError for a damaged file, one that is truncated meanwhile, or one that unpacks to more than 100 times its
/// size and 64 MiB. Throws DataError also for a full disk, and for a folder that is not private to this user.
/// @param cache_folder empty: none
[[nodiscard]] std::filesystem::path unpacked(const std::filesystem::path& path,
                                             const std::filesystem::path& cache_folder);

}  // namespace roentgen::data
