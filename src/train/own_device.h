// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Device of each rank, and the check that it has one to itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dist/launched.h"
#include "engine/device.h"
#include "runtime/stream.h"

namespace roentgen::engine {
class Engine;
}

namespace roentgen::train {

class Ranks;

/// CUDA devices on which this program can compute, in CUDA's order. CUDA_VISIBLE_DEVICES, and a launcher that sets it,
/// decide which ones a process sees.
[[nodiscard]] std::vector<runtime::CudaDeviceInfo> usable_cards(const runtime::CudaInventory& inventory);

/// Card of one of several processes of a host: the processes take the cards in turn by their local ranks.
/// @param local_rank rank among the processes of this host
/// @param cards at least one
[[nodiscard]] const runtime::CudaDeviceInfo& card_of(int local_rank, const std::vector<runtime::CudaDeviceInfo>& cards);

/// Device of this process. CUDA's without a number becomes that of card_of(), if a launcher started several processes
/// and this one sees cards. Any other device stays as it is.
/// @param launched dist::launched_rank()
[[nodiscard]] engine::DeviceChoice own_device(const engine::DeviceChoice& device,
                                              const std::optional<dist::LaunchedRank>& launched,
                                              const runtime::CudaInventory& inventory);
/// own_device() of parse_device() for this process and machine.
[[nodiscard]] engine::DeviceChoice own_device(const std::string& device);

/// Line that tells which device "auto" came to and which card it leaves idle; empty: nothing to tell.
/// @param asked before engine::resolve_device()
/// @param resolved after it
[[nodiscard]] std::string device_note(const engine::DeviceChoice& asked, const engine::DeviceChoice& resolved,
                                      const runtime::CudaInventory& inventory);

/// Does nothing when no two ranks compute on one device (engine::Engine::device_id()); CPU cores do not count.
/// Otherwise throws ConfigError on all ranks, naming both ranks and --allow-shared-gpu. All ranks call it.
void require_own_device(const Ranks& ranks, const engine::Engine& engine);

}  // namespace roentgen::train
