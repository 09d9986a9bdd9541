// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What a launcher (mpirun, srun) told this process in its environment, before MPI is begun.
#pragma once

#include <optional>
#include <string_view>

namespace roentgen::dist {

/// Place of a process among those started together.
struct LaunchedRank {
  int rank = 0;
  int size = 1;
  /// Among those of this host; size 0: not told.
  int local_rank = 0;
  int local_size = 0;
};

/// Nothing where no launcher started this process. Reads the variables of Open MPI's mpirun, of the PMI that MPICH,
/// Intel MPI and srun --mpi=pmi2 use, and of srun --mpi=pmix.
[[nodiscard]] std::optional<LaunchedRank> launched_rank();

/// The MPI that runs here: "openmpi", "mpich", or, in a program that was built without one, "none".
[[nodiscard]] std::string_view mpi_name();

}  // namespace roentgen::dist
