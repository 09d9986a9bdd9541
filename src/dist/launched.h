// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Settings that a launcher (mpirun, srun) passed in the environment, read before MPI is initialised.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roentgen::dist {

/// Place of a process among those started together.
struct LaunchedRank {
  int rank = 0;
  int size = 1;
  /// Rank among those of this host; size 0: unknown.
  int local_rank = 0;
  int local_size = 0;
};

/// Returns nullopt where no launcher started this process. Reads the variables of Open MPI's mpirun, of the PMI that
/// MPICH, Intel MPI and srun --mpi=pmi2 use, and of srun --mpi=pmix.
[[nodiscard]] std::optional<LaunchedRank> launched_rank();

/// A variable of a launcher that promises this process others beside it.
struct Promise {
  /// "SLURM_NTASKS=2".
  std::string variable;
  /// Number of processes, this one included; a lower bound where only PMIX_RANK exists.
  int processes = 0;
};

/// Kinds of launchers whose promise counts.
enum class PromiseOf : std::uint8_t {
  /// The launcher that started this process: srun, or another one that speaks PMIx.
  Step,
  /// A batch job that asked for several tasks, whose script started this process.
  Job,
};

/// Returns the sign of a launch of several processes in an environment that does not name the others. nullopt where
/// launched_rank() knows the group, or where there is no such sign.
[[nodiscard]] std::optional<Promise> unmet_promise(PromiseOf of);

}  // namespace roentgen::dist
