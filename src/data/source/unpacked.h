// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Unpacks gzipped record files once into the cache folder, because offsets into a gzipped file cannot be used. For
// src/data/source only.
#pragma once

#include <filesystem>

namespace roentgen::data {

/// Returns `path` if the file is not gzipped, else the path of its unpacked copy below `cache_folder`. The copy's name
/// depends on the path and file_state(), so a changed file is unpacked again. A modified copy is also replaced. The
/// copy is written atomically and kept for later runs.
/// Throws DataError if the file is damaged, is truncated meanwhile, or unpacks to more than 100 times its size and 64
/// MiB. Also throws DataError if the disk is full or the folder is not private to this user.
/// @param cache_folder folder for the copy; empty: no cache folder is available
[[nodiscard]] std::filesystem::path unpacked(const std::filesystem::path& path,
                                             const std::filesystem::path& cache_folder);

}  // namespace roentgen::data
