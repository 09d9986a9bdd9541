// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/launched.h"

#include <cstdlib>

#include "dist/host_tasks.h"

namespace roentgen::dist {
namespace {

struct Names {
  /// Launcher, as error messages call it.
  std::string_view launcher;
  /// Variable that identifies this launcher. The other variables may exist without an MPI launch.
  const char* sign;
  const char* rank;
  const char* size;
  const char* local_rank = "";
  const char* local_size = "";
  Bootstrap bootstrap = Bootstrap::Pmix;
};

// Launchers from the innermost to the outermost. In a Slurm job, mpirun passes Slurm's variables on, and hydra starts
// its daemons as a step of their own. So Slurm's variables count last.
constexpr Names kLaunchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"mpiexec (hydra)", "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
     Bootstrap::Pmi},
    {"Cray's launcher", "PMI_LOCAL_RANK", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", Bootstrap::Pmi},
    {"Cray's launcher", "PALS_LOCAL_RANKID", "PMI_RANK", "PMI_SIZE", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE",
     Bootstrap::Pmi},
    {"a launcher with PMI", "PMI_SIZE", "PMI_RANK", "PMI_SIZE", "", "", Bootstrap::Pmi},
    {"srun --mpi=pmix", "PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
    {"srun --mpi=pmix", "PMIX_RANK", "PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID"},
};

int number_of(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// True if Slurm's step consists of this group, so that its variables are not those of an outer step.
bool is_step(const LaunchedRank& own) {
  return number_of("SLURM_PROCID", -1) == own.rank && number_of("SLURM_STEP_NUM_TASKS", -1) == own.size;
}

// True if the PMI variables remain from an outer launcher, and the innermost step uses PMIx. For example, the
// interactive step of salloc is a group of one process.
bool is_outer_pmi(const LaunchedRank& own) {
  const int rank = number_of("PMIX_RANK", -1);
  return rank >= 0 && rank == number_of("SLURM_PROCID", -1) && own.size != number_of("SLURM_STEP_NUM_TASKS", own.size);
}

// Reads the place on this host that Slurm gave to a rank of its step.
void add_place_in_step(LaunchedRank& own) {
  own.local_rank = number_of("SLURM_LOCALID", 0);
  const char* tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  const auto here = tasks_on_host(tasks == nullptr ? "" : tasks, number_of("SLURM_NODEID", -1)).value_or(0);
  if (own.local_rank >= 0 && here > own.local_rank && here <= own.size) own.local_size = static_cast<int>(here);
}

}  // namespace

std::optional<LaunchedRank> launched_rank() {
  for (const Names& names : kLaunchers) {
    if (std::getenv(names.sign) == nullptr || number_of(names.size, 0) < 1) continue;
    LaunchedRank own{.rank = number_of(names.rank, 0),
                     .size = number_of(names.size, 1),
                     .local_rank = number_of(names.local_rank, 0),
                     .local_size = number_of(names.local_size, 0),
                     .launcher = names.launcher,
                     .bootstrap = names.bootstrap};
    if (own.local_size > 0) return own;
    if (names.bootstrap == Bootstrap::Pmi && is_outer_pmi(own)) continue;
    if (!is_step(own)) return own;
    add_place_in_step(own);
    if (names.bootstrap == Bootstrap::Pmi) own.launcher = "srun --mpi=pmi2";
    return own;
  }
  return std::nullopt;
}

std::optional<Promise> unmet_promise(PromiseOf of) {
  if (launched_rank()) return std::nullopt;
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    if (of == PromiseOf::Step && name == std::string_view("SLURM_NTASKS")) continue;
    const int processes = number_of(name, 0);
    if (processes > 1) return Promise{.variable = std::string(name) + "=" + std::getenv(name), .processes = processes};
  }
  const int rank = number_of("PMIX_RANK", 0);
  if (rank > 0) return Promise{.variable = std::string("PMIX_RANK=") + std::getenv("PMIX_RANK"), .processes = rank + 1};
  return std::nullopt;
}

}  // namespace roentgen::dist
