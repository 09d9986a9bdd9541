// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranks on CUDA devices: number of ranks that `--ranks auto` starts, and the card and cores of each. The functions use
// a given list of devices, so that tests need no card.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/launched.h"
#include "engine/device.h"
#include "runtime/core_list.h"
#include "runtime/stream.h"

namespace roentgen::cli {

/// Value of --ranks that starts one process for each card.
inline constexpr std::string_view kAutomaticRanks = "auto";

/// Parses the value of --ranks; nullopt for kAutomaticRanks. Throws ConfigError for another word, and for numbers that
/// are negative or above 65536.
[[nodiscard]] std::optional<std::int64_t> parse_ranks(const std::string& text);

/// Environment variable that limits the cards that CUDA shows to a process.
inline constexpr const char* kVisibleCards = "CUDA_VISIBLE_DEVICES";

/// Returns the MIG instances (partitions of a card) in a value of kVisibleCards, such as "MIG-1f...,MIG-2a...". Empty
/// if the value is null or names other devices.
[[nodiscard]] std::vector<std::string> card_instances(const char* visible);

/// Returns the number of processes that "auto" means on this host. If `device` is "cuda" without a number, it is one
/// for each of `instances`, or else for each usable card. Otherwise it is one. Throws DeviceError, like
/// runtime::pick_cuda_device(), for "cuda" without a usable card.
/// @param instances result of card_instances(); CUDA itself shows only the first of them
[[nodiscard]] std::int64_t automatic_ranks(const engine::DeviceChoice& device, const runtime::CudaInventory& inventory,
                                           const std::vector<std::string>& instances = {});

/// Returns the cores for one of several processes of this host. They are near the process's card if it computes on a
/// CUDA device in the inventory. Otherwise they are chosen by runtime::shares_of(), or within units by
/// runtime::shares_of_units().
/// @param own this process, with a local_size that is not 0
/// @param unit unit whose borders no share should cross; nullopt: none
[[nodiscard]] runtime::CoreList own_share(const runtime::CoreList& cores, const dist::LaunchedRank& own,
                                          const engine::DeviceChoice& device, const runtime::CudaInventory& inventory,
                                          std::optional<runtime::CoreUnit> unit = std::nullopt);

/// Returns the card on which this process computes, such as "cuda:1 NVIDIA H200"; empty if it uses none.
/// @param device result of train::own_device()
[[nodiscard]] std::string card_text(const engine::DeviceChoice& device, const runtime::CudaInventory& inventory);

}  // namespace roentgen::cli
