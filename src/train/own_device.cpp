// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/own_device.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/engine.h"
#include "train/ranks.h"

namespace roentgen::train {

void require_own_device(const Ranks& ranks, const engine::Engine& engine) {
  const std::vector<std::string> devices = ranks.gather(engine.device_id(), {.name = "devices"});
  std::map<std::string, int> owners;  // maps host and device to the rank
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::string& device = devices[static_cast<std::size_t>(rank)];
    if (device.empty()) continue;
    const auto [owner, is_new] = owners.try_emplace(ranks.host(rank) + " " + device, rank);
    if (is_new) continue;
    throw ConfigError(error_text("train.ranks", fmt::format("device of rank {} ({})", rank, ranks.host(rank)),
                                 "one of its own", fmt::format("{}, rank {}'s", device, owner->second),
                                 "CUDA_VISIBLE_DEVICES of each rank, or --allow-shared-gpu"));
  }
}

}  // namespace roentgen::train
