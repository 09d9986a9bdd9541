// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The machine's MPI library, loaded while the program runs: a build needs none, and one process never loads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::dist {

/// Family of MPI libraries with Open MPI's binary interface.
inline constexpr std::string_view kOpenMpi = "openmpi";
/// Family of MPI libraries with MPICH's binary interface: MPICH, Intel MPI, MVAPICH, Cray MPICH.
inline constexpr std::string_view kMpich = "mpich";

/// An MPI library that is loaded. It stays loaded until the process ends.
struct MpiLibrary {
  /// kOpenMpi or kMpich: whose binary interface it has, and whose mpirun starts its processes.
  std::string_view family;
  /// Name that dlopen() was given: "libmpi.so.40", or a path.
  std::string file;
  /// Name and version that the library gives itself: "Open MPI v4.1.4", "MPICH Version: 4.0.2".
  std::string version;
  /// Result of dlopen().
  void* handle = nullptr;

  /// Address of a function or object. Throws CommError naming file and symbol where it is missing.
  [[nodiscard]] void* symbol(const char* name) const;
};

/// Loads the MPI library of this process: one that is loaded already, else the first of mpi_files() (mpi_choice.h) that
/// can be loaded. Throws CommError naming each file that was tried, with the reason. Thread-safe while nobody changes
/// the environment's variables.
[[nodiscard]] MpiLibrary load_mpi();
/// Loads the first of these files that can be; errors as load_mpi().
[[nodiscard]] MpiLibrary load_mpi(const std::vector<std::string>& files);
/// The library that load_mpi() would return without loading one; nothing where the process has none.
[[nodiscard]] std::optional<MpiLibrary> loaded_mpi();

}  // namespace roentgen::dist
