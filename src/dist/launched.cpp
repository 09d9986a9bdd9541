// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/launched.h"

#include <cstdlib>

namespace roentgen::dist {
namespace {

struct Names {
  /// Variable that identifies this launcher. The other variables may exist without an MPI launch.
  const char* sign;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr Names kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_SIZE", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""},
    {"PMIX_RANK", "PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID", ""},
};

int number_of(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

std::optional<LaunchedRank> launched_rank() {
  for (const Names& names : kLaunchers) {
    if (std::getenv(names.sign) == nullptr || number_of(names.size, 0) < 1) continue;
    return LaunchedRank{.rank = number_of(names.rank, 0),
                        .size = number_of(names.size, 1),
                        .local_rank = number_of(names.local_rank, 0),
                        .local_size = number_of(names.local_size, 0)};
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
