// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inventory of the machine and libraries of a run, for environment.json. Never contains host or user names, addresses
// or paths.
#pragma once

#include <string_view>

#include "core/value.h"

namespace roentgen::io {

/// Version of the program ("0.1.0").
[[nodiscard]] std::string_view program_version();
/// Commit that the program was built from: 40 hex digits, followed by "+changes" if tracked files differed from it;
/// "unknown" outside git.
[[nodiscard]] std::string_view program_commit();

/// Returns the inventory as tables:
///   program       {version, commit, compiler, build_type}
///   cpu           {model, logical_cores, affinity_cores, flags: those of avx2, avx512f, ... present}
///   memory_bytes
///   kernel        {name, release, machine}
///   variables     variables of OpenMP and oneDNN that change threads or kernels; no values that could be paths
///   libraries     glibc and all libraries of the program
/// The version of a library is that of the loaded library if io can query it, else the version at build time. The CPU
/// engine's description contains oneDNN's version; callers add MPI's, which dist loads. Unknown values are null.
/// Thread-safe while nobody changes environment variables.
[[nodiscard]] Value environment_report();

}  // namespace roentgen::io
