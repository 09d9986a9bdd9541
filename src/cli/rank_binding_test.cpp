// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_binding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/placement.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

constexpr int kReserved = 0;
constexpr int kRefused = 1;
constexpr int kOther = 2;

// Takes the place of a rank that srun started on one of two hosts with --comm-threads 1, and ends the process, whose
// cores have changed.
// @param tasks SLURM_STEP_TASKS_PER_NODE
[[noreturn]] void exit_with_place(const char* type, const char* tasks) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "PMI_SIZE", "PMIX_RANK"}) ::unsetenv(name);
  ::setenv("SLURM_PROCID", "1", 1);
  ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  ::setenv("SLURM_LOCALID", "0", 1);
  ::setenv("SLURM_NODEID", "1", 1);
  ::setenv("SLURM_STEP_TASKS_PER_NODE", tasks, 1);
  if (std::string_view(type) == "pmi2") ::setenv("PMI_SIZE", "2", 1);
  ::setenv(std::string_view(type) == "pmi2" ? "PMI_RANK" : "PMIX_RANK", "1", 1);
  RankOptions options;
  options.recipe = [] { return train::TrainRecipe{}; };
  const RankLayout layout{.reserves_core = true};
  const Binding binding = take_place(options, layout, dist::launched_rank().value(), {}, false);
  if (binding.communication.empty()) {
    std::exit(binding.problem.find("cores that no other rank uses") != std::string::npos ? kRefused : kOther);
  }
  const runtime::CoreList rest = runtime::usable_cores();
  const bool is_apart = std::ranges::none_of(binding.communication,
                                             [&](int core) { return std::ranges::find(rest, core) != rest.end(); });
  std::exit(is_apart && binding.problem.empty() ? kReserved : kOther);
}

TEST(RankBinding, reserves_a_core_of_the_only_rank_of_a_host_in_a_slurm_step) {
  if (runtime::by_physical_core(runtime::usable_cores()).size() < 2) GTEST_SKIP() << "needs two cores";
  for (const char* const type : {"pmi2", "pmix"}) {
    SCOPED_TRACE(type);
    EXPECT_EXIT(exit_with_place(type, "1(x2)"), testing::ExitedWithCode(kReserved), "");
    EXPECT_EXIT(exit_with_place(type, "no list"), testing::ExitedWithCode(kRefused), "");
  }
}

}  // namespace
}  // namespace roentgen::cli
