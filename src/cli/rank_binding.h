// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Binds a rank to its cores and compares the places of all ranks. Only for launch.cpp.
#pragma once

#include <string>

#include "cli/launch.h"
#include "cli/rank_layout.h"
#include "cli/rank_place.h"
#include "dist/launched.h"
#include "engine/device.h"
#include "runtime/core_list.h"
#include "runtime/stream.h"

namespace roentgen::cli {

/// Device that the command computes on, as asked for, and the cards that it may be.
struct AskedDevice {
  engine::DeviceChoice device{.engine = "cpu"};
  runtime::CudaInventory cards{};
};

/// Reads the device from the recipe. Throws like train::read_recipe() and engine::resolve_device().
[[nodiscard]] AskedDevice asked_device(const RankOptions& options);
/// Returns asked_device() of a rank, or the host if that throws: the group reads a bad recipe again and reports it
/// once.
[[nodiscard]] AskedDevice asked_device_or_host(const RankOptions& options);

/// Result of take_place().
struct Binding {
  /// Cores that are reserved for communication; empty: none.
  runtime::CoreList communication{};
  /// Reason why --comm-threads or --comm-cores cannot be followed, for ConfigError; empty: none.
  std::string problem{};
  /// Values of RankPlace::host_units and RankPlace::why_equal.
  int host_units = 0;
  std::string why_equal{};
};

/// Binds this process to its share of the host's cores, then to those that are not reserved for communication. Call it
/// before other threads exist. Throws DeviceError if the system refuses.
/// @param is_server a server updates on the thread that communicates, so it reserves no core
[[nodiscard]] Binding take_place(const RankOptions& options, const RankLayout& layout, const dist::LaunchedRank& own,
                                 const AskedDevice& asked, bool is_server);

/// Returns the place of this rank. Throws ConfigError with Binding::problem.
[[nodiscard]] RankPlace own_place(const RankOptions& options, const dist::LaunchedRank& launched,
                                  const AskedDevice& asked, const Binding& binding);

/// Refuses ranks of different program versions, and more compute threads than a host has cores for its ranks. Logs the
/// cores of each rank, then calls log_warnings(). All ranks call it together. Throws ConfigError.
void check_places(dist::CommThread& group, const RankOptions& options, const RankPlace& own);

/// Warns if a single process uses one of several visible GPUs, unless the user chose it by its number.
void warn_of_idle_cards(const RankOptions& options);

}  // namespace roentgen::cli
