// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Linux control groups (cgroups), which limit CPU time and memory of processes, for example in containers.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace roentgen::runtime {

/// Calls `use` with the folder of each control group that limits a process: its own groups and all their parents. A
/// container sees its own group as the root, where its path of the host does not exist, so folders may be missing.
/// @param root folder like /sys/fs/cgroup
/// @param membership text like /proc/self/cgroup
/// @param controller name of a controller of version 1, such as "cpu" or "memory"; version 2 has one group for all
/// @param use called with a folder, and true if it is of version 2
void for_each_control_group(const std::filesystem::path& root, std::string_view membership, std::string_view controller,
                            const std::function<void(const std::filesystem::path& group, bool is_second)>& use);

}  // namespace roentgen::runtime
