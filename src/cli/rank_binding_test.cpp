// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_binding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "runtime/machine_testing.h"
#include "runtime/pci_machine_testing.h"
#include "runtime/placement.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

const dist::LaunchedRank kFirst{.rank = 0, .size = 2, .local_rank = 0, .local_size = 2};

TEST(RankPlaces, count_the_sockets_of_a_ranks_cores) {
  const runtime::CoreList cores = runtime::usable_cores();
  const int last = cores.back();
  const runtime::MadeUpMachine machine(fmt::format("pack:{} [numa] core:1 pu:1", last + 1));
  EXPECT_EQ(own_place({}, kFirst, {}, {}).sockets, static_cast<int>(cores.size())) << "each core is a socket";
  const runtime::BoundToCores bound({last});
  EXPECT_EQ(own_place({}, kFirst, {}, {}).sockets, 1);
}

TEST(RankPlaces, tell_that_a_bound_rank_has_no_core_near_its_card) {
  const runtime::PciMachine machine;
  const int core = runtime::usable_cores().front();
  if (core > 7) GTEST_SKIP() << "NOT TESTED: needs one of cores 0 to 7";
  const runtime::BoundToCores bound({core});
  AskedDevice asked{.device = {.engine = "cuda"}};
  asked.cards.devices = {{.name = "NVIDIA H200", .compute_capability = 90, .bus = "0000:80:00.0"}};
  EXPECT_TRUE(own_place({}, kFirst, asked, {}).is_far_from_card);
  asked.cards.devices[0].bus = "0000:10:00.0";
  EXPECT_FALSE(own_place({}, kFirst, asked, {}).is_far_from_card);
}

TEST(RankPlaces, contain_what_the_binding_found) {
  const RankPlace place = own_place({}, kFirst, {}, {.communication = {1}, .host_units = 4, .why_equal = "a reason"});
  EXPECT_EQ(place.communication, runtime::CoreList{1});
  EXPECT_EQ(place.host_units, 4);
  EXPECT_EQ(place.why_equal, "a reason");
  EXPECT_THROW(static_cast<void>(own_place({}, kFirst, {}, {.problem = "a problem"})), ConfigError);
}

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
  if (runtime::by_physical_core(runtime::usable_cores()).size() < 2) GTEST_SKIP() << "NOT TESTED: needs two cores";
  for (const char* const type : {"pmi2", "pmix"}) {
    SCOPED_TRACE(type);
    EXPECT_EXIT(exit_with_place(type, "1(x2)"), testing::ExitedWithCode(kReserved), "");
    EXPECT_EXIT(exit_with_place(type, "no list"), testing::ExitedWithCode(kRefused), "");
  }
}

}  // namespace
}  // namespace roentgen::cli
