// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Small kernels with one planted bug each, for tests that the emulator finds the bug.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tests/emulated_cuda/device.h"

namespace roentgen::emulated {

/// Names of the kernels; the kernel "none" has no bug.
inline constexpr std::string_view kPlanted[] = {
    "none",        "missing_barrier",        "missing_sync_in_warp", "early_end",       "two_barriers",   "own_mask",
    "absent_lane", "different_masks",        "two_operations",       "misaligned",      "write_past",     "read_past",
    "unwritten",   "blocks_without_atomics", "two_writers",          "past_the_buffer", "barrier_in_warp"};

inline constexpr unsigned kPlantedBlocks = 4, kPlantedThreads = 64;

/// Runs a kernel on a device with these options. Returns one number per thread. Throws DeviceError if the emulator
/// finds the bug.
[[nodiscard]] std::vector<float> run_planted(std::string_view name, const DeviceOptions& options);

}  // namespace roentgen::emulated
