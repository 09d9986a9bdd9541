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

/// Protocol by which the processes of a launcher find each other.
enum class Bootstrap : std::uint8_t {
  /// PMIx, which Open MPI needs.
  Pmix,
  /// PMI-1 or PMI-2, which the MPICH family needs.
  Pmi,
};

/// Rank of a process, and size of the group that was started together.
struct LaunchedRank {
  int rank = 0;
  int size = 1;
  /// Rank among the processes on this host. Size 0 means unknown.
  int local_rank = 0;
  int local_size = 0;
  /// Launcher, as error messages call it, such as "srun --mpi=pmi2".
  std::string_view launcher = "mpirun or srun";
  Bootstrap bootstrap = Bootstrap::Pmix;
};

/// Reads rank and size from the launcher's environment variables; nullopt if no launcher started this process. Supports
/// Open MPI's mpirun, the PMI of MPICH, Intel MPI, Cray and srun --mpi=pmi2, and srun --mpi=pmix. If launchers are
/// nested, such as mpirun in a Slurm job, the variables of the inner one count.
[[nodiscard]] std::optional<LaunchedRank> launched_rank();

/// Environment variable which shows that several processes were started together.
struct Promise {
  /// Name and value, such as "SLURM_NTASKS=2".
  std::string variable;
  /// Number of processes, including this one. A lower bound if only PMIX_RANK exists.
  int processes = 0;
};

/// Type of launcher whose environment variables unmet_promise() examines.
enum class PromiseOf : std::uint8_t {
  /// Launcher that started this process: srun, or another launcher that speaks PMIx.
  Step,
  /// Batch job with several tasks, whose script started this process.
  Job,
};

/// Finds a sign that several processes were started, although the environment does not tell how to reach the others.
/// Returns nullopt if launched_rank() knows the group, or if there is no such sign.
[[nodiscard]] std::optional<Promise> unmet_promise(PromiseOf of);

}  // namespace roentgen::dist
