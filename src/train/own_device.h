// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Chooses the device of each rank and checks that no two ranks use the same device.
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

/// Returns the CUDA devices on which this program can compute, in CUDA's order. CUDA_VISIBLE_DEVICES, which launchers
/// may set, limits the devices that a process sees.
[[nodiscard]] std::vector<runtime::CudaDeviceInfo> usable_cards(const runtime::CudaInventory& inventory);

/// Returns the card of one of several processes of a host. Local rank i gets card i, starting again at the first after
/// the last.
/// @param local_rank rank among the processes of this host
/// @param cards at least one
[[nodiscard]] const runtime::CudaDeviceInfo& card_of(int local_rank, const std::vector<runtime::CudaDeviceInfo>& cards);

/// Returns the device of this process. The choice "cuda" without a number becomes card_of() if a launcher started
/// several processes and this process sees cards. Any other choice is returned unchanged.
/// @param launched result of dist::launched_rank()
[[nodiscard]] engine::DeviceChoice own_device(const engine::DeviceChoice& device,
                                              const std::optional<dist::LaunchedRank>& launched,
                                              const runtime::CudaInventory& inventory);
/// Returns the device of this process on this machine for a device given as text.
[[nodiscard]] engine::DeviceChoice own_device(const std::string& device);

/// Returns a line that tells which device "auto" chose and which card stays unused; empty if there is nothing to tell.
/// @param asked choice before engine::resolve_device()
/// @param resolved choice after engine::resolve_device()
[[nodiscard]] std::string device_note(const engine::DeviceChoice& asked, const engine::DeviceChoice& resolved,
                                      const runtime::CudaInventory& inventory);

/// Throws ConfigError on all ranks if two ranks compute on one device (engine::Engine::device_id()). The message names
/// both ranks and --allow-shared-gpu. CPU cores do not count as a device. All ranks call it.
void require_own_device(const Ranks& ranks, const engine::Engine& engine);

}  // namespace roentgen::train
