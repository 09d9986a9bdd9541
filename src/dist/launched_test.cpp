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
                                "SLURM_LOCALID",
                                "SLURM_NODEID",
                                "SLURM_STEP_TASKS_PER_NODE",
                                "PMI_LOCAL_RANK",
                                "PMI_LOCAL_SIZE",
                                "PALS_LOCAL_RANKID",
                                "PALS_LOCAL_SIZE"};

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

// Describes the rank as "rank of size, local rank of local size, launcher"; empty if there is none.
std::string text_in(const Environment& environment) {
  const auto own = with(environment);
  if (!own) return "";
  return std::to_string(own->rank) + " of " + std::to_string(own->size) + ", " + std::to_string(own->local_rank) +
         " of " + std::to_string(own->local_size) + ", " + std::string(own->launcher);
}

// Variables of the fourth of five tasks of a step on three hosts.
Environment step_and(const Environment& more) {
  Environment environment{{"SLURM_NTASKS", "5"}, {"SLURM_STEP_NUM_TASKS", "5"},
                          {"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"},
                          {"SLURM_NODEID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}};
  environment.insert(environment.end(), more.begin(), more.end());
  return environment;
}

TEST(LaunchedRank, knows_its_place_on_the_host_of_a_slurm_step) {
  EXPECT_EQ(text_in(step_and({{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}})), "3 of 5, 1 of 2, srun --mpi=pmi2");
  EXPECT_EQ(text_in(step_and({{"PMIX_RANK", "3"}})), "3 of 5, 1 of 2, srun --mpi=pmix");
  const Environment last{
      {"PMI_RANK", "4"},      {"PMI_SIZE", "5"},     {"SLURM_STEP_NUM_TASKS", "5"},           {"SLURM_PROCID", "4"},
      {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}};
  EXPECT_EQ(text_in(last), "4 of 5, 0 of 1, srun --mpi=pmi2");
}

TEST(LaunchedRank, does_not_know_the_number_of_a_hosts_ranks_from_a_wrong_list) {
  for (const char* const list : {"", "2(x", "2", "1(x3)", "9(x3)"}) {
    Environment environment = step_and({{"PMIX_RANK", "3"}});
    environment.push_back({"SLURM_STEP_TASKS_PER_NODE", list});
    EXPECT_EQ(text_in(environment), "3 of 5, 1 of 0, srun --mpi=pmix") << list;
  }
}

TEST(LaunchedRank, is_that_of_a_launcher_inside_a_slurm_job) {
  const Environment openmpi{{"OMPI_COMM_WORLD_RANK", "1"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"PMIX_RANK", "1"}};
  const Environment hydra{{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "4"}};
  const Environment batch{{"SLURM_NTASKS", "5"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "0"}};
  for (const Environment& job : {batch, step_and({})}) {
    Environment environment = job;
    environment.insert(environment.end(), openmpi.begin(), openmpi.end());
    EXPECT_EQ(text_in(environment), "1 of 4, 1 of 4, mpirun");
    environment = job;
    environment.insert(environment.end(), hydra.begin(), hydra.end());
    EXPECT_EQ(text_in(environment), "1 of 4, 1 of 4, mpiexec (hydra)");
    environment = job;
    environment.insert(environment.end(), {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}});
    EXPECT_EQ(text_in(environment), "1 of 4, 0 of 0, a launcher with PMI") << "Slurm's step is another group";
  }
}

TEST(LaunchedRank, is_that_of_srun_inside_an_interactive_step) {
  EXPECT_EQ(text_in(step_and({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"PMIX_RANK", "3"}})),
            "3 of 5, 1 of 2, srun --mpi=pmix");
  EXPECT_EQ(text_in(step_and({{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}, {"PMIX_RANK", "0"}})),
            "3 of 5, 1 of 2, srun --mpi=pmi2");
}

TEST(LaunchedRank, knows_its_place_from_cray) {
  const Environment pmi{{"PMI_RANK", "6"}, {"PMI_SIZE", "8"}, {"PMI_LOCAL_RANK", "2"}, {"PMI_LOCAL_SIZE", "4"}};
  EXPECT_EQ(text_in(pmi), "6 of 8, 2 of 4, Cray's launcher");
  const Environment pals{{"PMI_RANK", "6"}, {"PMI_SIZE", "8"}, {"PALS_LOCAL_RANKID", "2"}};
  EXPECT_EQ(text_in(pals), "6 of 8, 2 of 0, Cray's launcher") << "the number on this host is unknown";
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
