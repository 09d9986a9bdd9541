// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/mpirun_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::cli {
namespace {

const std::vector<std::string> kProgram{"roentgen", "train", "--out", "a run"};

std::string text_of(const GroupStart& start) {
  return fmt::format("{}", fmt::join(mpirun_command(start, kProgram), " "));
}

TEST(MpirunCommand, starts_ranks_of_open_mpi_here) {
  EXPECT_EQ(text_of({.ranks = 3, .environment = {"OMP_NUM_THREADS=1"}}),
            "mpirun -np 3 --bind-to none --oversubscribe -x ROENTGEN_RANKS=1 roentgen train --out a run");
  EXPECT_NE(text_of({.ranks = 3, .is_root = true}).find(" --allow-run-as-root roentgen"), std::string::npos);
  EXPECT_NE(text_of({.ranks = 3, .is_killed_at_once = true}).find(" --mca odls_base_sigkill_timeout 0 roentgen"),
            std::string::npos);
}

TEST(MpirunCommand, takes_along_to_other_hosts_what_the_program_reads) {
  EXPECT_EQ(
      text_of({.ranks = 2,
               .hosts = "a:1,b:1",
               .environment = {"OMP_NUM_THREADS=1", "HOME=/root", "XDG_CACHE_HOME=/c", "ROENTGEN_RANKS=1",
                               "ROENTGEN_TEST_DATA=/d", "DNNL_MAX_CPU_ISA=AVX2", "OMPI_MCA_btl=tcp", "UCX_TLS=tcp"}}),
      "mpirun -np 2 --bind-to none --oversubscribe -x ROENTGEN_RANKS=1 --host a:1,b:1 -x OMP_NUM_THREADS "
      "-x XDG_CACHE_HOME -x ROENTGEN_TEST_DATA -x DNNL_MAX_CPU_ISA -x UCX_TLS roentgen train --out a run");
}

TEST(MpirunCommand, starts_ranks_of_mpich) {
  EXPECT_EQ(text_of({.mpi = "mpich", .ranks = 2, .hosts = "a:1,b:1", .is_root = true}),
            "mpirun -n 2 -bind-to none -genv ROENTGEN_RANKS 1 -hosts a:1,b:1 roentgen train --out a run");
}

TEST(MpirunProgram, is_not_the_one_of_another_mpi) {
  const TemporaryFolder folder;
  const auto path = [&](std::string_view real) {
    const auto bin = folder.path() / real;
    std::filesystem::create_directories(bin);
    std::ofstream(bin / real) << "a program";
    std::filesystem::create_symlink(bin / real, bin / "mpirun");
    return "/nowhere:" + bin.string();
  };
  const std::string open = path("orterun"), hydra = path("mpiexec.hydra");
  EXPECT_EQ(mpirun_program("openmpi", open + ":" + hydra), "mpirun");
  EXPECT_EQ(mpirun_program("mpich", open + ":" + hydra), "mpirun.mpich");
  EXPECT_EQ(mpirun_program("openmpi", hydra), "mpirun.openmpi");
  EXPECT_EQ(mpirun_program("mpich", hydra), "mpirun");
  EXPECT_EQ(mpirun_program("mpich", ""), "mpirun");
}

TEST(WithoutOptions, drops_both_forms_with_their_values) {
  EXPECT_EQ(without_options({"p", "--ranks", "2", "--hosts=a", "--ranksome", "x"}, {"--ranks", "--hosts"}),
            (std::vector<std::string>{"p", "--ranksome", "x"}));
}

TEST(RequireHosts, takes_names_with_numbers_of_ranks) {
  for (const char* hosts : {"a", "a:2", "a:2,b:2", "10.99.0.1:1,node-7.cluster"}) EXPECT_NO_THROW(require_hosts(hosts));
  for (const char* hosts : {",,,", "a:2,", ",a", "a:x", "a:", "a:0", ":2", "a:2;b:2", "a b", "a:123456"}) {
    EXPECT_THROW(require_hosts(hosts), ConfigError) << hosts;
  }
}

TEST(RequireHosts, names_the_number_that_is_wrong) {
  EXPECT_THAT([] { require_hosts("a:2,localhost:x"); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr(
                  "--hosts: expected a number of ranks from 1 to 99999 for localhost, got localhost:x; try ")));
}

}  // namespace
}  // namespace roentgen::cli
