// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Choice of the MPI library that a process loads: that of its launcher, else that of the mpirun on the PATH.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/mpi_library.h"

namespace roentgen::dist {

/// An installed program `mpirun`.
struct Mpirun {
  /// Path without symbolic links.
  std::filesystem::path file;
  /// MPI family that it belongs to: kOpenMpi or kMpich.
  std::string_view family;
};

/// Finds the first mpirun in the folders of `path`, which are separated by colons; nullopt if there is none. The
/// program that a link points to determines the family. A program that is itself called mpirun belongs to MPICH if
/// mpiexec.hydra is in the same folder.
[[nodiscard]] std::optional<Mpirun> find_mpirun(std::string_view path);

/// Returns candidate files of the MPI library, in order, as names for dlopen(). Libraries in the installation of an
/// mpirun come first, then names that the dynamic linker searches for.
/// - ROENTGEN_MPI=openmpi or mpich: libraries of that family; ROENTGEN_MPI=FILE: that file.
/// - Launched by Open MPI's mpirun or by MPICH's hydra: libraries of that family.
/// - Else both families. The family of the mpirun on the PATH is first. Without an mpirun, MPICH's comes first if a
///   launcher speaks PMI (srun --mpi=pmi2), and Open MPI's otherwise (srun --mpi=pmix).
/// @param environment "NAME=value" of all variables
[[nodiscard]] std::vector<std::string> mpi_files(const std::vector<std::string>& environment);

/// Returns all environment variables of this process as "NAME=value".
[[nodiscard]] std::vector<std::string> own_environment();

}  // namespace roentgen::dist
