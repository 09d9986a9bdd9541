// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What memory the machine has left.
#pragma once

#include <cstddef>
#include <string_view>

namespace roentgen::runtime {

/// Bytes this process may still use without swapping: the kernel's estimate (MemAvailable). 0 where it is not told.
[[nodiscard]] std::size_t available_memory_bytes();
/// The estimate in a text like /proc/meminfo; 0 without one.
[[nodiscard]] std::size_t parse_available_memory(std::string_view meminfo);

/// ConfigError "[thing] memory: ..." when `bytes` is more than is available.
/// @param thing  room and thing, without brackets
/// @param remedy what to try
void require_memory(std::string_view thing, std::size_t bytes, std::string_view remedy);

}  // namespace roentgen::runtime
