// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranks on CUDA devices: number of ranks that `--ranks auto` starts, and the GPU ("card") and CPU cores of each rank.
// The list of devices is a parameter, so that tests need no GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/rank_place.h"
#include "dist/launched.h"
#include "engine/device.h"
#include "runtime/core_list.h"
#include "runtime/stream.h"

namespace roentgen::cli {

/// Value of --ranks that starts one process for each GPU.
inline constexpr std::string_view kAutomaticRanks = "auto";

/// Parses the value of --ranks; nullopt for kAutomaticRanks. Throws ConfigError for another word, and for numbers that
/// are negative or above 65536.
[[nodiscard]] std::optional<std::int64_t> parse_ranks(const std::string& text);

/// Environment variable that limits which GPUs a process can use.
inline constexpr const char* kVisibleCards = "CUDA_VISIBLE_DEVICES";

/// Returns the MIG instances (partitions of a GPU) in a value of kVisibleCards, such as "MIG-1f...,MIG-2a...". Empty if
/// the value is null or names other devices.
[[nodiscard]] std::vector<std::string> card_instances(const char* visible);

/// Makes only this rank's MIG instance visible, because CUDA uses only the first visible instance. Changes
/// kVisibleCards if it contains several MIG instances. Call it before CUDA and other threads start.
/// @param local_rank rank among the processes of this host
void see_own_instance(int local_rank);

/// Returns the number of processes that `--ranks auto` starts on this host. If `device` is "cuda" without a number,
/// this is the number of `instances`, or else of usable GPUs. Otherwise it is 1. Throws DeviceError, like
/// runtime::pick_cuda_device(), for "cuda" without a usable GPU.
/// @param instances result of card_instances(); CUDA itself shows only the first of them
[[nodiscard]] std::int64_t automatic_ranks(const engine::DeviceChoice& device, const runtime::CudaInventory& inventory,
                                           const std::vector<std::string>& instances = {});

/// CPU cores of one of several processes of a host.
struct CoreShare {
  runtime::CoreList cores;
  /// Reason why the cores of the host were divided equally; empty: they were not.
  std::string why_equal{};
};

/// Returns the CPU cores for one of several processes of this host. runtime::shares_near() chooses them if the process
/// computes on a CUDA device in the inventory, otherwise runtime::equal_shares().
/// @param own this process, with a local_size that is not 0
/// @param unit unit whose borders no share should cross; nullopt: none
[[nodiscard]] CoreShare own_share(const runtime::CoreList& cores, const dist::LaunchedRank& own,
                                  const engine::DeviceChoice& device, const runtime::CudaInventory& inventory,
                                  std::optional<runtime::CoreUnit> unit = std::nullopt);

/// Sets the members of `place` about the GPU of this process. Call it when `place.cores` is set.
/// @param asked device as asked for
/// @param launched result of dist::launched_rank()
void set_card(const engine::DeviceChoice& asked, const std::optional<dist::LaunchedRank>& launched,
              const runtime::CudaInventory& inventory, RankPlace& place);

}  // namespace roentgen::cli
