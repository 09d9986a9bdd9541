// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MPI library of the machine, loaded at run time. A build needs no MPI, and training in a single process does not load
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::dist {

/// Family of MPI libraries that have Open MPI's binary interface.
inline constexpr std::string_view kOpenMpi = "openmpi";
/// Family of MPI libraries that have MPICH's binary interface: MPICH, Intel MPI, MVAPICH, Cray MPICH.
inline constexpr std::string_view kMpich = "mpich";

/// MPI library that is loaded into this process, until the process ends.
struct MpiLibrary {
  /// Family (kOpenMpi or kMpich), which determines the binary interface and the mpirun to start processes with.
  std::string_view family;
  /// Name that was passed to dlopen(): "libmpi.so.40", or a path.
  std::string file;
  /// Name and version as reported by the library: "Open MPI v4.1.4", "MPICH Version: 4.0.2".
  std::string version;
  /// Handle from dlopen().
  void* handle = nullptr;

  /// Returns the address of a function or object. Throws CommError naming file and symbol if the library lacks it.
  [[nodiscard]] void* symbol(const char* name) const;
};

/// Returns the MPI library of this process. Loads the first of mpi_files() (mpi_choice.h) that can be loaded, unless a
/// library is loaded already. Throws CommError naming each file that was tried, with the reason. Thread-safe while no
/// thread changes environment variables.
[[nodiscard]] MpiLibrary load_mpi();
/// Loads the first of these files that can be loaded. Throws as load_mpi() does.
[[nodiscard]] MpiLibrary load_mpi(const std::vector<std::string>& files);
/// Returns the MPI library that is loaded already, without loading one; nullopt if there is none.
[[nodiscard]] std::optional<MpiLibrary> loaded_mpi();

}  // namespace roentgen::dist
