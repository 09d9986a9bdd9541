// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Guards mapped files against truncation while they are used. Reading a missing page raises SIGBUS, which ends the
// process. In guarded maps such a page reads as zeros instead, and the user of the map checks afterwards.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/result.h"

namespace roentgen::io {

/// Guards a map from now on; the first call installs the process's SIGBUS handler, which hands faults elsewhere on to
/// the handler before it. Takes over `descriptor`, the file's, unless it is -1. Thread-safe.
void guard_map(std::span<const std::byte> map, int descriptor);

/// Ends the guard of the map that begins there, before it is unmapped, and closes its descriptor. Thread-safe.
void release_map(std::span<const std::byte> map);

/// True where reading a guarded map failed since guard_map(), or its file is now shorter than the map. Thread-safe.
[[nodiscard]] bool was_cut_short(std::span<const std::byte> map);

/// Failure naming `path` when was_cut_short(): data read from the map must then not be used.
[[nodiscard]] Status check_map(std::span<const std::byte> map, const std::filesystem::path& path);

}  // namespace roentgen::io
