// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/cpu_quota.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/folder_testing.h"

namespace roentgen::runtime {
namespace {

/// Fixture with a directory tree like /sys/fs/cgroup.
class CpuQuota : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  [[nodiscard]] std::optional<double> quota(std::string_view membership) const {
    return cgroup_cpu_quota(root_, membership, [](const std::filesystem::path& path) -> std::optional<std::string> {
      std::ifstream file(path);
      if (!file) return std::nullopt;
      return std::string(std::istreambuf_iterator<char>(file), {});
    });
  }
  const TemporaryFolder folder_;
  const std::filesystem::path root_ = folder_.path();
};

TEST_F(CpuQuota, is_none_without_groups_and_with_groups_that_limit_nothing) {
  EXPECT_EQ(quota(""), std::nullopt);
  EXPECT_EQ(quota("0::/job\nnonsense\n:\n"), std::nullopt);
  write("job/cpu.max", "max 100000");
  EXPECT_EQ(quota("0::/job\n"), std::nullopt);
}

TEST_F(CpuQuota, of_version_2_is_the_smallest_of_nested_groups) {
  write("job/step/cpu.max", "800000 100000");
  write("job/cpu.max", "125000 50000");
  EXPECT_EQ(quota("0::/job/step\n"), 2.5);
  EXPECT_EQ(quota("0::/other\n"), std::nullopt);
  write("cpu.max", "100000 200000");
  EXPECT_EQ(quota("0::/job/step\n"), 0.5);
  EXPECT_EQ(quota("0::/docker/of/the/host\n"), 0.5) << "a container sees its own group as the root";
}

TEST_F(CpuQuota, of_version_1_counts_too) {
  write("cpu/docker/3f/cpu.cfs_quota_us", "150000");
  write("cpu/docker/3f/cpu.cfs_period_us", "50000");
  write("cpu/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(quota("5:memory:/docker/3f\n4:cpu,cpuacct:/docker/3f\n"), 3.0);
  EXPECT_EQ(quota("5:memory:/docker/3f\n4:cpuset:/docker/3f\n"), std::nullopt);
}

TEST(WithinQuota, rounds_up_and_divides_among_processes) {
  EXPECT_EQ(within_quota(8, std::nullopt), 8);
  EXPECT_EQ(within_quota(8, 2.5), 3);
  EXPECT_EQ(within_quota(2, 2.5), 2);
  EXPECT_EQ(within_quota(8, 0.25), 1);
  EXPECT_EQ(within_quota(8, 4.0, 2), 2);
  EXPECT_EQ(within_quota(8, 4.0, 3), 2);
  EXPECT_EQ(within_quota(8, 1e12), 8);
}

}  // namespace
}  // namespace roentgen::runtime
