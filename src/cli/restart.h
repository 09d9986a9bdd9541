// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// --restart: starts a training again after a rank or a host failed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/host_list.h"
#include "cli/launcher.h"

namespace roentgen::cli {

/// Knowledge of --restart about the command.
struct RestartOptions {
  /// Most restarts; 0: none.
  std::int64_t most = 0;
  /// Updates in the resume file; negative: there is none.
  std::function<std::int64_t()> saved_step{};
  /// Changes the words of the command, so that it goes on with the run.
  std::function<std::vector<std::string>(std::vector<std::string> command)> resumed{};
};

/// A group of ranks to start.
struct RankGroup {
  std::int64_t ranks = 1;
  /// Empty: all ranks run on this host.
  HostList hosts{};
  std::vector<std::string> command{};  ///< program and arguments
};

/// How a group failed.
struct GroupFailure {
  /// Line that names the cause; empty: unknown.
  std::string cause{};
  std::int64_t saved_step = -1;  ///< RestartOptions::saved_step() afterwards
};

/// Whether another start makes sense: not after the same failure twice with nothing saved between.
/// @param last the failure before; none for the first
[[nodiscard]] bool is_worth_restart(const std::optional<GroupFailure>& last, const GroupFailure& now);

/// Calls that run_with_restarts() makes.
struct RestartCalls {
  std::function<GroupEnd(const RankGroup& group)> start{};          ///< runs a group to its end
  std::function<HostList(const HostList& hosts)> find_answering{};  ///< those of the hosts that can start a process
};

/// Runs a group. Starts it again, at most `options.most` times, while it fails. Bad input and stops are no failures,
/// and neither is an end that a signal to this process asked for. A host that no longer answers is left out with its
/// ranks; all others keep theirs. Logs a line for each restart and for the reason to make none. Returns the end of the
/// last start.
[[nodiscard]] GroupEnd run_with_restarts(RankGroup group, const RestartOptions& options, const RestartCalls& calls);

}  // namespace roentgen::cli
