// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Free memory of the machine and memory of this process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace roentgen::runtime {

/// Number of bytes that this process may still use without swapping; 0 if unknown. This is the smaller of the kernel's
/// estimate (MemAvailable) and the memory left in the process's Linux cgroups.
[[nodiscard]] std::size_t available_memory_bytes();
/// Number of bytes left within the memory limits of Linux cgroups (versions 1 and 2). Reads the cgroup that
/// `membership` (a text like /proc/self/cgroup) names below `root` (/sys/fs/cgroup), and all its parents. File pages
/// that can be dropped count as free. Returns the largest size_t if there is no limit. Works also in a container, where
/// the container's own cgroup is the root.
[[nodiscard]] std::size_t cgroup_memory_left(const std::filesystem::path& root, std::string_view membership);
/// Reads MemAvailable from a text like /proc/meminfo; 0 if it is missing.
[[nodiscard]] std::size_t parse_available_memory(std::string_view meminfo);

/// Number of bytes of physical memory that the process uses now, including shared pages (VmRSS); 0 if unknown.
[[nodiscard]] std::size_t resident_memory_bytes();

/// Largest resident memory of the process so far (VmHWM), or since reset_peak_resident_memory().
[[nodiscard]] std::size_t peak_resident_memory_bytes();
/// Resets the peak to the present value. Returns false if the kernel does not allow it.
bool reset_peak_resident_memory();

/// Throws ConfigError "[thing] memory: ..." if `bytes` exceeds the available memory.
/// @param thing  source directory and topic for the error, without brackets
/// @param remedy advice for the user
void require_memory(std::string_view thing, std::size_t bytes, std::string_view remedy);

}  // namespace roentgen::runtime
