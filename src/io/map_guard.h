// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Mapped files that others cut short while they are used. Reading a page that the file no longer has raises SIGBUS,
// which ends a process. For guarded maps such a page reads as zeros instead, and whoever used the map asks afterwards
// whether that happened.
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

/// Failure naming `path` where was_cut_short(): what was read of the map is not to be used.
[[nodiscard]] Status check_map(std::span<const std::byte> map, const std::filesystem::path& path);

}  // namespace roentgen::io
