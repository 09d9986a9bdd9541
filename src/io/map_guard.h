// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Protects the process if mapped files are truncated while they are used. Reading a missing page raises SIGBUS, which
// would end the process. In guarded maps, such a page reads as zeros, and the user of the map checks afterwards.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/result.h"

namespace roentgen::io {

/// Guards a map from now on. The first call installs the process's SIGBUS handler, which passes faults outside guarded
/// maps to the previous handler. Takes over the file's `descriptor`, unless it is -1. Thread-safe.
void guard_map(std::span<const std::byte> map, int descriptor);

/// Ends the guard of the map that begins at map.data(), and closes its descriptor. Call it before the map is unmapped.
/// Thread-safe.
void release_map(std::span<const std::byte> map);

/// True if reading a guarded map has failed since guard_map(), or if its file is now shorter than the map. Thread-safe.
[[nodiscard]] bool was_cut_short(std::span<const std::byte> map);

/// Returns a Failure that names `path` if was_cut_short(). Data read from the map must not be used then.
[[nodiscard]] Status check_map(std::span<const std::byte> map, const std::filesystem::path& path);

}  // namespace roentgen::io
