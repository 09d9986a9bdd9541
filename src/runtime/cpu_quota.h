// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CPU time that Linux control groups (cgroups) leave to the process, for example in a container with --cpus.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace roentgen::runtime {

/// Returns the content of a file; nullopt if it cannot be read.
using ReadText = std::function<std::optional<std::string>(const std::filesystem::path& file)>;

/// Returns the smallest CPU quota of a control group and all its parents, in cores; nullopt without a quota. Reads
/// cpu.max (version 2), or cpu.cfs_quota_us and cpu.cfs_period_us (version 1).
/// @param root folder like /sys/fs/cgroup
/// @param membership text like /proc/self/cgroup
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const std::filesystem::path& root, std::string_view membership,
                                                     const ReadText& read);

/// CPU quota of this process in cores, read once; nullopt without a quota.
[[nodiscard]] std::optional<double> cpu_quota_cores();

/// Returns the smaller of `cores` and a CPU quota divided among processes, rounded up. At least 1.
/// @param quota_cores quota of all processes together; nullopt limits nothing
[[nodiscard]] int within_quota(int cores, std::optional<double> quota_cores, int processes = 1);

}  // namespace roentgen::runtime
