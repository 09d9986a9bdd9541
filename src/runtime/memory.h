// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Free memory of the machine and memory of this process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace roentgen::runtime {

/// Bytes that this process may still use without swapping: the kernel's estimate (MemAvailable), or the rest of its
/// control groups' limits, where that is less. 0: unknown.
[[nodiscard]] std::size_t available_memory_bytes();
/// Free bytes within the limits of control groups (versions 1 and 2). Reads the group that `membership` (a text like
/// /proc/self/cgroup) names below `root` (/sys/fs/cgroup), and all its parents. File pages that can be dropped count as
/// free. Returns the largest size_t where there is no limit. Works in a container, whose own group is the root.
[[nodiscard]] std::size_t cgroup_memory_left(const std::filesystem::path& root, std::string_view membership);
/// The estimate in a text like /proc/meminfo; 0 without one.
[[nodiscard]] std::size_t parse_available_memory(std::string_view meminfo);

/// Bytes of physical memory that the process holds now, shared pages included (VmRSS); 0: unknown.
[[nodiscard]] std::size_t resident_memory_bytes();

/// Largest amount held so far (VmHWM), or since reset_peak_resident_memory().
[[nodiscard]] std::size_t peak_resident_memory_bytes();
/// Resets the peak to the memory held now. False where the kernel does not allow it.
bool reset_peak_resident_memory();

/// Throws ConfigError "[thing] memory: ..." when `bytes` exceeds the available memory.
/// @param thing  room and thing, without brackets
/// @param remedy what to try
void require_memory(std::string_view thing, std::size_t bytes, std::string_view remedy);

}  // namespace roentgen::runtime
