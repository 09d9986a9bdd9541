// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/launched.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

namespace roentgen::dist {
namespace {

constexpr const char* kAll[] = {"OMPI_COMM_WORLD_RANK",
                                "OMPI_COMM_WORLD_SIZE",
                                "OMPI_COMM_WORLD_LOCAL_RANK",
                                "OMPI_COMM_WORLD_LOCAL_SIZE",
                                "PMI_RANK",
                                "PMI_SIZE",
                                "MPI_LOCALRANKID",
                                "MPI_LOCALNRANKS",
                                "PMIX_RANK",
                                "SLURM_PROCID",
                                "SLURM_STEP_NUM_TASKS",
                                "SLURM_NTASKS",
                                "SLURM_LOCALID"};

using Environment = std::vector<std::pair<const char*, const char*>>;

// Returns the result of `ask` in an environment that contains only these variables.
template <typename Ask>
auto in(const Environment& environment, const Ask& ask) {
  for (const char* name : kAll) ::unsetenv(name);
  for (const auto& [name, value] : environment) ::setenv(name, value, 1);
  const auto told = ask();
  for (const char* name : kAll) ::unsetenv(name);
  return told;
}

std::optional<LaunchedRank> with(const Environment& environment) {
  return in(environment, [] { return launched_rank(); });
}

// Describes the promise as "VARIABLE=VALUE, processes"; empty if there is none.
std::string promise_in(const Environment& environment, PromiseOf of) {
  const auto promise = in(environment, [of] { return unmet_promise(of); });
  return promise ? promise->variable + ", " + std::to_string(promise->processes) : "";
}

TEST(LaunchedRank, is_nothing_without_a_launcher) {
  EXPECT_FALSE(with({}).has_value());
  EXPECT_FALSE(with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}}).has_value()) << "a job without MPI";
}

TEST(LaunchedRank, is_told_by_every_launcher) {
  const auto openmpi = with({{"OMPI_COMM_WORLD_RANK", "3"},
                             {"OMPI_COMM_WORLD_SIZE", "4"},
                             {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(openmpi.has_value());
  EXPECT_EQ(openmpi->rank, 3);
  EXPECT_EQ(openmpi->size, 4);
  EXPECT_EQ(openmpi->local_rank, 1);
  EXPECT_EQ(openmpi->local_size, 2);
  const auto pmi = with({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  ASSERT_TRUE(pmi.has_value());
  EXPECT_EQ(pmi->rank, 1);
  EXPECT_EQ(pmi->local_size, 0) << "not told";
  const auto pmix =
      with({{"PMIX_RANK", "1"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "1"}});
  ASSERT_TRUE(pmix.has_value());
  EXPECT_EQ(pmix->rank, 1);
  EXPECT_EQ(pmix->size, 8);
}

TEST(UnmetPromise, is_one_of_several_processes_that_know_no_other) {
  EXPECT_EQ(promise_in({}, PromiseOf::Job), "");
  const Environment step{{"SLURM_NTASKS", "2"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}};
  EXPECT_EQ(promise_in(step, PromiseOf::Step), "SLURM_STEP_NUM_TASKS=2, 2") << "srun --mpi=none";
  EXPECT_EQ(promise_in(step, PromiseOf::Job), "SLURM_STEP_NUM_TASKS=2, 2");
  const Environment job{{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}};
  EXPECT_EQ(promise_in(job, PromiseOf::Job), "SLURM_NTASKS=4, 4");
  EXPECT_EQ(promise_in(job, PromiseOf::Step), "") << "its script started the process";
  EXPECT_EQ(promise_in({{"PMIX_RANK", "2"}}, PromiseOf::Step), "PMIX_RANK=2, 3");
}

TEST(UnmetPromise, is_none_of_a_known_group_or_of_one_process) {
  EXPECT_EQ(promise_in({{"SLURM_NTASKS", "2"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, PromiseOf::Job), "");
  EXPECT_EQ(promise_in({{"SLURM_NTASKS", "4"}, {"OMPI_COMM_WORLD_SIZE", "1"}}, PromiseOf::Job), "")
      << "mpirun -np 1 in a job of 4";
  EXPECT_EQ(promise_in({{"SLURM_NTASKS", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}}, PromiseOf::Job), "");
  EXPECT_EQ(promise_in({{"PMIX_RANK", "0"}}, PromiseOf::Job), "");
}

}  // namespace
}  // namespace roentgen::dist
