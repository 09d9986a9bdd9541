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

/// A program `mpirun`.
struct Mpirun {
  /// Path without symbolic links.
  std::filesystem::path file;
  /// kOpenMpi or kMpich.
  std::string_view family;
};

/// First mpirun of the folders in `path`, which has colons between; nothing where there is none. The program's name
/// without links tells the family; one called mpirun is MPICH's where mpiexec.hydra lies beside it.
[[nodiscard]] std::optional<Mpirun> find_mpirun(std::string_view path);

/// Files to try as MPI library, in order, as dlopen() takes them. First come paths of libraries next to the mpirun of
/// their family, then names that the dynamic linker looks for.
/// - ROENTGEN_MPI=openmpi or mpich: those of that family; ROENTGEN_MPI=FILE: that file.
/// - Launched by Open MPI's mpirun or by MPICH's hydra: those of that family.
/// - Else both families. The family of the mpirun on the PATH is first. Without an mpirun, MPICH's comes first where a
/// launcher speaks PMI (srun --mpi=pmi2), and Open MPI's otherwise (srun --mpi=pmix).
/// @param environment "NAME=value" of all variables
[[nodiscard]] std::vector<std::string> mpi_files(const std::vector<std::string>& environment);

/// "NAME=value" of all variables of this process.
[[nodiscard]] std::vector<std::string> own_environment();

}  // namespace roentgen::dist
