// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::runtime {
namespace {

TEST(Memory, reads_the_kernels_estimate) {
  EXPECT_EQ(parse_available_memory("MemTotal:  24684084 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n"), 2048U * 1024U);
  EXPECT_EQ(parse_available_memory("MemTotal:  24684084 kB\n"), 0U);
  EXPECT_EQ(parse_available_memory("MemAvailable:   \n"), 0U);
  EXPECT_EQ(parse_available_memory("MemAvailable:   many kB"), 0U);
}

/// Fixture with a directory tree like /sys/fs/cgroup.
class Groups : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  const TemporaryFolder folder_;
  const std::filesystem::path root_ = folder_.path();
};

TEST_F(Groups, of_version_2_leave_what_the_tightest_one_leaves) {
  write("job/memory.max", "1000\n");
  write("job/memory.current", "700\n");
  write("job/memory.stat", "anon 5\ninactive_file 300\nactive_file 60\n");
  write("job/step/memory.max", "max\n");
  write("job/step/memory.current", "400\n");
  EXPECT_EQ(cgroup_memory_left(root_, "0::/job/step\n"), 600U);
  EXPECT_EQ(cgroup_memory_left(root_, "0::/other\n"), std::numeric_limits<std::size_t>::max());
  write("memory.max", "500");
  write("memory.current", "900");
  EXPECT_EQ(cgroup_memory_left(root_, "0::/job/step\n"), 0U);
  EXPECT_EQ(cgroup_memory_left(root_, "0::/\n"), 0U);
}

TEST_F(Groups, of_version_1_count_too) {
  write("memory/slurm/memory.limit_in_bytes", "2000\n");
  write("memory/slurm/memory.usage_in_bytes", "500\n");
  write("memory/slurm/memory.stat", "cache 9\ntotal_inactive_file 100\n");
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/memory.usage_in_bytes", "7\n");
  EXPECT_EQ(cgroup_memory_left(root_, "4:cpu,cpuacct:/slurm\n3:hugetlb,memory:/slurm\n"), 1600U);
  EXPECT_EQ(cgroup_memory_left(root_, "4:cpu:/slurm\n"), std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(cgroup_memory_left(root_, "nonsense\n:\n"), std::numeric_limits<std::size_t>::max());
}

TEST(Memory, tells_what_the_process_holds) {
  const std::size_t before = resident_memory_bytes();
  if (before == 0) GTEST_SKIP() << "SKIPPED: this system has no /proc/self/statm";
  const std::vector<char> memory(std::size_t{64} << 20U, 'x');
  EXPECT_GE(resident_memory_bytes(), before + (std::size_t{60} << 20U)) << memory.back();
}

TEST(Memory, refuses_what_the_machine_has_not) {
  if (available_memory_bytes() == 0) GTEST_SKIP() << "SKIPPED: this system has no /proc/meminfo";
  require_memory("engine.cpu", 1, "a smaller batch");
  try {
    require_memory("engine.cpu", std::numeric_limits<std::size_t>::max() / 2, "a smaller batch");
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::MatchesRegex("\\[engine.cpu\\] memory: expected at most [0-9.]+ GiB \\(free memory\\), got "
                                      "[0-9.]+ GiB; try a smaller batch"));
  }
}

TEST(Memory, has_a_peak_that_no_later_moment_exceeds_and_none_lowers) {
  const std::size_t before = peak_resident_memory_bytes();
  EXPECT_GT(before, 0U);
  {
    std::vector<char> more(before + (std::size_t{32} << 20U), 'x');
    EXPECT_GE(peak_resident_memory_bytes(), more.size());
  }
  EXPECT_GE(peak_resident_memory_bytes(), before + (std::size_t{32} << 20U));
}

}  // namespace
}  // namespace roentgen::runtime
