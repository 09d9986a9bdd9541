// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Warnings about cores and GPUs of ranks, from the places of all ranks. Each warning is one line; empty: none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/rank_layout.h"
#include "cli/rank_place.h"

namespace roentgen::cli {

/// Places of all ranks and the names of their hosts, one of each per rank.
struct PlacedRanks {
  std::span<const RankPlace> places;
  std::span<const std::string> hosts;
};

/// Names the ranks whose cores belong to several sockets. Advises --ppn socket unless `layout` has a unit.
[[nodiscard]] std::string socket_warning(const PlacedRanks& ranks, const RankLayout& layout);

/// Names the hosts on which the number of ranks differs from that of sockets or NUMA nodes, with both numbers. Empty if
/// `layout` has no unit.
[[nodiscard]] std::string unit_warning(const PlacedRanks& ranks, const RankLayout& layout);

/// Names the hosts with GPUs that are visible to ranks but used by none, with both numbers.
[[nodiscard]] std::string idle_card_warning(const PlacedRanks& ranks);

/// Names the ranks without a core near their GPU.
[[nodiscard]] std::string far_card_warning(const PlacedRanks& ranks);

/// Names the hosts whose cores were divided equally and not by GPU, with the reason.
[[nodiscard]] std::string equal_cores_note(const PlacedRanks& ranks);

/// Logs socket_warning(), unit_warning(), idle_card_warning() and far_card_warning() as warnings, and
/// equal_cores_note() as information.
void log_warnings(const PlacedRanks& ranks, const RankLayout& layout);

}  // namespace roentgen::cli
