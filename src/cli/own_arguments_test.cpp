// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/own_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace roentgen::cli {
namespace {

TEST(OwnArguments, of_a_result_have_the_name_of_the_program) {
  EXPECT_EQ(command_to_repeat().front(), "roentgen");
  EXPECT_EQ(command_to_repeat().size(), own_arguments().size());
}

TEST(OwnArguments, of_a_result_of_several_processes_begin_with_mpirun) {
  const std::size_t words = own_arguments().size();
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  const std::vector<std::string> several = command_to_repeat();
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  const std::vector<std::string> one = command_to_repeat();
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ASSERT_EQ(several.size(), words + 3);
  EXPECT_THAT(std::vector(several.begin(), several.begin() + 4),
              testing::ElementsAre("mpirun", "-np", "4", "roentgen"));
  EXPECT_EQ(one.front(), "roentgen") << "one process needs no mpirun";
}

}  // namespace
}  // namespace roentgen::cli
