// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// --restart: restarts training after a rank or a host failed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/host_list.h"
#include "cli/launcher.h"

namespace roentgen::cli {

/// Properties of the command that --restart needs.
struct RestartOptions {
  /// Largest number of restarts; 0: none.
  std::int64_t most = 0;
  /// Returns the number of training updates that the saved state of the run contains; negative if no state was saved.
  std::function<std::int64_t()> saved_step{};
  /// Waits until no process of the failed group uses the run; false if one still does. Empty: no wait.
  std::function<bool()> wait_until_free{};
  /// Returns the command changed so that it resumes the run.
  std::function<std::vector<std::string>(std::vector<std::string> command)> resumed{};
};

/// A group of ranks to start.
struct RankGroup {
  std::int64_t ranks = 1;
  /// Hosts with their slots; empty: all ranks run on this host.
  HostList hosts{};
  std::vector<std::string> command{};  ///< program and arguments
  /// Number of ranks that are parameter servers (--servers).
  std::int64_t servers = 0;
};

/// Description of a failure of a group of ranks.
struct GroupFailure {
  /// Printed line that names the cause; empty: unknown.
  std::string cause{};
  std::int64_t saved_step = -1;  ///< value of RestartOptions::saved_step() after the failure
};

/// True if a restart may help: false if the same failure happened twice without a newer saved state in between.
/// @param last previous failure; nullopt for the first
[[nodiscard]] bool is_worth_restart(const std::optional<GroupFailure>& last, const GroupFailure& now);

/// Calls that run_with_restarts() makes.
struct RestartCalls {
  std::function<GroupEnd(const RankGroup& group)> start{};          ///< runs a group until all its ranks have ended
  std::function<HostList(const HostList& hosts)> find_answering{};  ///< returns the hosts that can start a process
};

/// Runs a group of ranks and restarts it after failures, at most `options.most` times. Bad input, stops, and ends
/// requested by a signal to this process are not failures. The restart leaves out a host that no longer answers. It
/// then has as many ranks as before, but at most one per slot of the other hosts. Servers that would leave no rank to
/// work become workers; there is no restart if a job with servers has a single rank left. Logs a line for each restart,
/// or why there is none. Returns how the last start ended.
[[nodiscard]] GroupEnd run_with_restarts(RankGroup group, const RestartOptions& options, const RestartCalls& calls);

}  // namespace roentgen::cli
