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
                                "SLURM_LOCALID"};

std::optional<LaunchedRank> with(const std::vector<std::pair<const char*, const char*>>& environment) {
  for (const char* name : kAll) ::unsetenv(name);
  for (const auto& [name, value] : environment) ::setenv(name, value, 1);
  const auto launched = launched_rank();
  for (const char* name : kAll) ::unsetenv(name);
  return launched;
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

}  // namespace
}  // namespace roentgen::dist
