// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranks on CUDA devices: how many --ranks auto starts, and each one's card and cores. Plain functions of an inventory,
// so that they are tested without a card.
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

/// Value of --ranks that stands for as many processes as there are cards.
inline constexpr std::string_view kAutomaticRanks = "auto";

/// Number of processes in the value of --ranks; nullopt: kAutomaticRanks. ConfigError for another word, and for numbers
/// that are negative or above 65536.
[[nodiscard]] std::optional<std::int64_t> parse_ranks(const std::string& text);

/// Variable in which CUDA looks for the cards that a process may see.
inline constexpr const char* kVisibleCards = "CUDA_VISIBLE_DEVICES";

/// Instances of partitioned cards (MIG) in a value of kVisibleCards, such as "MIG-1f...,MIG-2a...". Empty: it is null
/// or names other devices.
[[nodiscard]] std::vector<std::string> card_instances(const char* visible);

/// Number of processes that "auto" stands for on this host. Where `device` is CUDA's without a number: one for each of
/// `instances`, or else for each usable card. Otherwise one. Throws DeviceError, as runtime::pick_cuda_device(), for
/// CUDA without a usable card.
/// @param instances card_instances(), of which CUDA shows the first one alone
[[nodiscard]] std::int64_t automatic_ranks(const engine::DeviceChoice& device, const runtime::CudaInventory& inventory,
                                           const std::vector<std::string>& instances = {});

/// Share of `cores` for one of several processes of this host. It is near the process's card where they compute on CUDA
/// devices and the inventory has some; otherwise as runtime::shares_of().
/// @param own its local_size is not 0
[[nodiscard]] runtime::CoreList own_share(const runtime::CoreList& cores, const dist::LaunchedRank& own,
                                          const engine::DeviceChoice& device, const runtime::CudaInventory& inventory);

/// "cuda:1 NVIDIA H200", the card that this process computes on; empty: none.
/// @param device result of train::own_device()
[[nodiscard]] std::string card_text(const engine::DeviceChoice& device, const runtime::CudaInventory& inventory);

}  // namespace roentgen::cli
