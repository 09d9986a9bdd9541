// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/own_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/error.h"
#include "engine/engine.h"
#include "train/ranks.h"

namespace roentgen::train {
namespace {

constexpr std::string_view kCuda = "cuda";

}  // namespace

std::vector<runtime::CudaDeviceInfo> usable_cards(const runtime::CudaInventory& inventory) {
  std::vector<runtime::CudaDeviceInfo> cards;
  std::ranges::copy_if(inventory.devices, std::back_inserter(cards), [](const runtime::CudaDeviceInfo& card) {
    return card.compute_capability >= runtime::kLeastComputeCapability;
  });
  return cards;
}

const runtime::CudaDeviceInfo& card_of(int local_rank, const std::vector<runtime::CudaDeviceInfo>& cards) {
  RG_ASSERT(local_rank >= 0 && !cards.empty());
  return cards[static_cast<std::size_t>(local_rank) % cards.size()];
}

engine::DeviceChoice own_device(const engine::DeviceChoice& device, const std::optional<dist::LaunchedRank>& launched,
                                const runtime::CudaInventory& inventory) {
  if (device.engine != kCuda || device.index || !launched || launched->size == 1) return device;
  const std::vector<runtime::CudaDeviceInfo> cards = usable_cards(inventory);
  if (cards.empty()) return device;
  return {.engine = device.engine, .index = card_of(launched->local_rank, cards).index};
}

engine::DeviceChoice own_device(const std::string& device) {
  const engine::DeviceChoice choice = engine::resolve_device(engine::parse_device(device));
  const auto launched = dist::launched_rank();
  if (choice.engine != kCuda || !launched) return choice;
  return own_device(choice, launched, runtime::find_cuda_devices());
}

std::string device_note(const engine::DeviceChoice& asked, const engine::DeviceChoice& resolved,
                        const runtime::CudaInventory& inventory) {
  const std::vector<runtime::CudaDeviceInfo> cards = usable_cards(inventory);
  if (asked != engine::DeviceChoice{} || cards.empty()) return {};
  if (resolved.engine == kCuda) return fmt::format("device: cuda:{} {} (auto)", cards[0].index, cards[0].name);
  return fmt::format("device: {} (auto); this machine has {} {}: --device cuda trains on it", resolved.text(),
                     cards.size() == 1 ? "the card" : fmt::format("{} cards, such as", cards.size()), cards[0].name);
}

void require_own_device(const Ranks& ranks, const engine::Engine& engine) {
  const std::vector<std::string> devices = ranks.gather(engine.device_id(), {.name = "devices"});
  std::map<std::string, int> owners;  // maps host and device to the rank
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::string& device = devices[static_cast<std::size_t>(rank)];
    if (device.empty()) continue;
    const auto [owner, is_new] = owners.try_emplace(ranks.host(rank) + " " + device, rank);
    if (is_new) continue;
    throw ConfigError(error_text("train.ranks", fmt::format("device of rank {} ({})", rank, ranks.host(rank)),
                                 "a GPU that no other rank uses",
                                 fmt::format("{}, which rank {} uses", device, owner->second),
                                 "another CUDA_VISIBLE_DEVICES for each rank, or --allow-shared-gpu"));
  }
}

}  // namespace roentgen::train
