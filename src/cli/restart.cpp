// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/command.h"
#include "cli/mpirun_command.h"
#include "core/log.h"
#include "core/plural.h"

namespace roentgen::cli {
namespace {

// True if a restart may succeed: not after bad input, which would fail again, and not after a signal, which requested
// the end.
bool may_pass(const GroupEnd& end) {
  return end.signal == 0 && end.exit_code != kSuccess && end.exit_code != kBadInput && end.exit_code != kStopped;
}

std::string text_of(std::int64_t saved_step) {
  return saved_step < 0 ? "from the beginning" : fmt::format("from update {}", saved_step);
}

// Removes hosts that do not answer from the group; returns false if no host is left.
bool drop_lost_hosts(RankGroup& group, const RestartCalls& calls) {
  if (group.hosts.empty()) return true;
  HostList left = calls.find_answering(group.hosts);
  for (const HostSlots& host : group.hosts) {
    if (std::ranges::find(left, host) != left.end()) continue;
    log::warning(fmt::format("restart: {} does not answer, and is left out", host.name));
  }
  if (left.empty()) return false;
  if (left.size() < group.hosts.size()) group.ranks = std::min(group.ranks, slots_of(left));
  group.hosts = std::move(left);
  return true;
}

// Reduces the number of servers so that one of the ranks that are left is a worker. Returns false if that leaves no
// server.
bool keep_a_worker(RankGroup& group) {
  if (group.servers < group.ranks || group.servers == 0) return true;
  if (group.ranks < 2) return false;
  const std::int64_t servers = group.ranks - 1;
  log::warning(fmt::format("restart: {} instead of {}, so that one rank is a worker", counted(servers, "server"),
                           group.servers));
  group.servers = servers;
  group.command = without_options(group.command, {"--servers"});
  group.command.insert(group.command.end(), {"--servers", fmt::to_string(servers)});
  return true;
}

}  // namespace

bool is_worth_restart(const std::optional<GroupFailure>& last, const GroupFailure& now) {
  return !last || now.saved_step > last->saved_step || now.cause != last->cause;
}

GroupEnd run_with_restarts(RankGroup group, const RestartOptions& options, const RestartCalls& calls) {
  std::optional<GroupFailure> last;
  for (std::int64_t restart = 1;; ++restart) {
    GroupEnd end = calls.start(group);
    if (options.most == 0 || !may_pass(end)) return end;
    GroupFailure failure{.cause = end.cause, .saved_step = options.saved_step()};
    if (restart > options.most) {
      log::error(fmt::format("restart: none of {} is left", options.most));
      return end;
    }
    if (!is_worth_restart(last, failure)) {
      log::error(fmt::format("restart: not again, since the same failure came twice {}: {}",
                             text_of(failure.saved_step), failure.cause.empty() ? "no cause is known" : failure.cause));
      return end;
    }
    if (!drop_lost_hosts(group, calls)) {
      log::error("restart: no host answers");
      return end;
    }
    if (!keep_a_worker(group)) {
      log::error("restart: the rank that is left cannot be server and worker");
      return end;
    }
    if (options.wait_until_free && !options.wait_until_free()) {
      log::error("restart: a process of the failed start still uses the run folder");
      return end;
    }
    group.command = options.resumed(std::move(group.command));
    log::warning(fmt::format("restart {} of {}: {} {} on {}", restart, options.most, counted(group.ranks, "rank"),
                             plural(group.ranks, "goes", "go"), text_of(failure.saved_step)));
    last = std::move(failure);
  }
}

}  // namespace roentgen::cli
