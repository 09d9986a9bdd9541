// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RankLayout: number of ranks on a host, and cores of a host that are kept for communication. The functions read no
// state of the process, so that tests can give them any machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/host_list.h"
#include "dist/launched.h"
#include "runtime/core_list.h"

namespace roentgen::cli {

/// Values of --ppn, --comm-threads and --comm-cores; empty: not given.
struct LayoutArguments {
  std::string per_node;
  std::string comm_threads;
  std::string comm_cores;

  /// --ppn; bound to this object's members.
  /// @param doc text for the help
  [[nodiscard]] Option ranks_option(std::string doc);
  /// --comm-threads and --comm-cores.
  /// @param doc text for the help of both
  [[nodiscard]] std::vector<Option> communication_options(const std::string& doc);
};

/// Parsed LayoutArguments.
struct RankLayout {
  /// Number of ranks on a host; 0: one per `unit`, or not set.
  std::int64_t number = 0;
  /// Unit that gets one rank, and whose borders no rank should cross; nullopt: none.
  std::optional<runtime::CoreUnit> unit{};
  /// Whether communication gets a core of its own; nullopt: where a rank has enough cores.
  std::optional<bool> reserves_core{};
  /// Cores of a host that only communication uses; empty: chosen by runtime::place().
  runtime::CoreList communication{};

  /// True if --ppn was given.
  [[nodiscard]] bool has_ranks_per_node() const { return number > 0 || unit.has_value(); }
  /// True if an option was given.
  [[nodiscard]] bool is_asked() const {
    return has_ranks_per_node() || reserves_core.has_value() || !communication.empty();
  }
};

/// Parses the options. Throws ConfigError for other words, more than one communication thread, and cores for none.
[[nodiscard]] RankLayout parse_layout(const LayoutArguments& arguments);

/// Returns the number of ranks on a host like this one: RankLayout::number, or the number of units among `cores`.
[[nodiscard]] std::int64_t ranks_per_node(const RankLayout& layout, const runtime::CoreList& cores);

/// Returns the same hosts with so many slots each.
[[nodiscard]] HostList with_slots(HostList hosts, std::int64_t slots);

/// Cores of one rank.
struct RankCores {
  /// Cores that are left for computing and input, of this rank or of all ranks of the host.
  runtime::CoreList rest;
  /// Cores for communication.
  runtime::CoreList communication;
  /// Reason why the options cannot be followed, for ConfigError; empty: none.
  std::string problem{};
};

/// Takes the cores of --comm-cores out of `usable`. If this program divides a host's cores, a rank gets its share of
/// them in the order of ranks. Otherwise, it gets those among its own cores.
/// @param is_divided true if `usable` are the cores of all ranks of the host
[[nodiscard]] RankCores reserve_cores(const RankLayout& layout, const runtime::CoreList& usable,
                                      const dist::LaunchedRank& own, bool is_divided);

}  // namespace roentgen::cli
