// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CPU cores and GPU ("card") of each rank. Ranks send them to each other, and the log prints them.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "runtime/core_list.h"

namespace roentgen::cli {

/// CPU cores and GPU of one rank.
struct RankPlace {
  /// Cores for computing and input, without those for communication.
  runtime::CoreList cores;
  /// Cores for communication; empty: communication shares `cores`.
  runtime::CoreList communication;
  /// Part of `cores` that only input uses; empty: input and computing share `cores`.
  runtime::CoreList input;
  /// First hardware thread of each physical core that `cores` belong to (first_threads()).
  runtime::CoreList physical{};
  /// CPU quota of the process in cores; infinite without a quota.
  double quota_cores = std::numeric_limits<double>::infinity();
  /// Number of compute threads.
  int threads = 0;
  /// Number of sockets that the cores belong to.
  int sockets = 1;
  /// GPU that computes, such as "cuda:0 NVIDIA H200"; empty: the CPU cores compute.
  std::string card{};
  /// PCI bus address of `card`.
  std::string card_bus{};
  /// PCI bus addresses of all GPUs that this rank could use. Empty if it computes on the CPU, or if the user chose the
  /// GPU by its number.
  std::vector<std::string> visible_cards{};
  /// True if none of `cores` is near the GPU.
  bool is_far_from_card = false;
  /// Number of sockets or NUMA nodes (RankLayout::unit) of the host; 0: not counted.
  int host_units = 0;
  /// Reason why the cores of the host were divided equally and not by GPU; empty: none.
  std::string why_equal{};
};

/// Returns the first hardware thread of each physical core of this machine that contains some of `cores`. So ranks that
/// use different hardware threads of a core name the same core. Returns `cores` if hwloc has no information.
[[nodiscard]] runtime::CoreList first_threads(const runtime::CoreList& cores);
/// Returns the largest number of compute threads of the ranks of one host: one per physical core. A CPU quota is
/// divided among the ranks, and each part is rounded up.
[[nodiscard]] int most_threads(std::span<const RankPlace> places);

/// Returns the serialised form, which other ranks read with parse_rank_place().
[[nodiscard]] std::string bytes_of(const RankPlace& place);
[[nodiscard]] RankPlace parse_rank_place(const std::string& bytes);
/// Returns text such as "cuda:0 NVIDIA H200, cores 0-28, input 29, communication 30"; empty groups are left out. The
/// group "cores" has the cores for computing.
[[nodiscard]] std::string text_of(const RankPlace& place);

/// Returns the error for a rank whose program has another version than that of rank 0; empty: none. Ranks of different
/// programs could compute different weights.
/// @param versions one per rank, such as "0.1.0 (commit)"
/// @param hosts one per rank
[[nodiscard]] std::string version_error(std::span<const std::string> versions, std::span<const std::string> hosts);

}  // namespace roentgen::cli
