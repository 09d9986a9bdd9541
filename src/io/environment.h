// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inventory of the machine and libraries of a run, for environment.json. Never host or user names, addresses or paths.
#pragma once

#include <string_view>

#include "core/value.h"

namespace roentgen::io {

/// Version of the program ("0.1.0").
[[nodiscard]] std::string_view program_version();
/// Commit it was built from: 40 hex digits, then "+changes" when tracked files differed from it; "unknown" outside git.
[[nodiscard]] std::string_view program_commit();

/// The inventory, as tables:
///   program       {version, commit, compiler, build_type}
///   cpu           {model, logical_cores, affinity_cores, flags: those of avx2, avx512f, ... present}
///   memory_bytes
///   kernel        {name, release, machine}
///   variables     of OpenMP and oneDNN that change threads or kernels, as set; no value that could be a path
///   libraries     glibc and every library of the program
/// A library's version is the one that runs where io can ask for it, else the one it was built with. The CPU engine's
/// description holds oneDNN's own version text; callers add MPI's, which dist loads. Unknown values are null.
/// Thread-safe while nobody changes the environment's variables.
[[nodiscard]] Value environment_report();

}  // namespace roentgen::io
