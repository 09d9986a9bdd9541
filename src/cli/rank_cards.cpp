// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "cli/rank_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/comma_list.h"
#include "core/error.h"
#include "runtime/near_cores.h"
#include "train/own_device.h"

namespace roentgen::cli {
namespace {

bool is_cuda(const engine::DeviceChoice& device) { return device.engine == "cuda"; }

}  // namespace

std::optional<std::int64_t> parse_ranks(const std::string& text) {
  constexpr std::int64_t kMost = 65536;
  if (text == kAutomaticRanks) return std::nullopt;
  std::int64_t ranks = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error == std::errc{} && end == text.data() + text.size() && ranks >= 0 && ranks <= kMost) return ranks;
  throw ConfigError(error_text("cli.launch", "--ranks", "auto or a number from 0 to 65536", text, "--ranks 2"));
}

std::vector<std::string> card_instances(const char* visible) {
  std::vector<std::string> instances;
  if (visible == nullptr) return instances;
  for (const std::string_view part : comma_parts(visible)) {
    if (!part.starts_with("MIG-")) return {};
    instances.emplace_back(part);
  }
  return instances;
}

void see_own_instance(int local_rank) {
  const std::vector<std::string> instances = card_instances(std::getenv(kVisibleCards));
  if (instances.size() < 2) return;
  ::setenv(kVisibleCards, instances[static_cast<std::size_t>(local_rank) % instances.size()].c_str(), 1);
}

std::int64_t automatic_ranks(const engine::DeviceChoice& device, const runtime::CudaInventory& inventory,
                             const std::vector<std::string>& instances) {
  if (!is_cuda(device) || device.index) return 1;
  const auto cards = std::ssize(train::usable_cards(inventory));
  if (cards == 0) static_cast<void>(runtime::pick_cuda_device(inventory, 0));
  return std::max(cards, std::ssize(instances));
}

CoreShare own_share(const runtime::CoreList& cores, const dist::LaunchedRank& own, const engine::DeviceChoice& device,
                    const runtime::CudaInventory& inventory, std::optional<runtime::CoreUnit> unit) {
  const auto place = static_cast<std::size_t>(own.local_rank);
  const auto cards = train::usable_cards(inventory);
  if (!is_cuda(device) || device.index || cards.empty()) {
    return {.cores = runtime::equal_shares(cores, own.local_size, unit).at(place)};
  }
  std::vector<runtime::CoreList> near;
  for (int rank = 0; rank < own.local_size; ++rank) {
    near.push_back(runtime::near_cores(cores, train::card_of(rank, cards).bus));
  }
  runtime::NearShares shares = runtime::shares_near(cores, near, unit);
  return {.cores = std::move(shares.cores.at(place)), .why_equal = std::move(shares.why_equal)};
}

void set_card(const engine::DeviceChoice& asked, const std::optional<dist::LaunchedRank>& launched,
              const runtime::CudaInventory& inventory, RankPlace& place) {
  if (!is_cuda(asked)) return;
  const int index = train::own_device(asked, launched, inventory).index.value_or(0);
  const auto card = std::ranges::find(inventory.devices, index, &runtime::CudaDeviceInfo::index);
  if (card == inventory.devices.end()) return;
  place.card = fmt::format("cuda:{} {}", card->index, card->name);
  place.card_bus = card->bus;
  place.is_far_from_card = runtime::is_far(place.cores, card->bus);
  if (asked.index) return;
  for (const runtime::CudaDeviceInfo& each : train::usable_cards(inventory)) place.visible_cards.push_back(each.bus);
}

}  // namespace roentgen::cli
