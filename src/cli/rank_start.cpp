// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_start.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/host_list.h"
#include "cli/host_probe.h"
#include "cli/mpirun_command.h"
#include "cli/restart.h"
#include "core/error.h"
#include "dist/launch_board.h"
#include "dist/mpi_choice.h"
#include "dist/mpi_library.h"
#include "runtime/core_list.h"
#include "train/ranks.h"

namespace roentgen::cli {
namespace {

// Throws ConfigError if the limit of open files is so low that Open MPI's mpirun would hang. mpirun opens about 28
// files, and 4 for each rank of its host.
void require_open_files(std::int64_t ranks) {
  constexpr rlim_t kOwn = 32, kOfRank = 6;
  const rlim_t needed = kOwn + kOfRank * static_cast<rlim_t>(ranks);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  throw ConfigError(error_text("cli.launch", "ulimit -n",
                               fmt::format("a limit of {} open files or more for {}", needed, train::ranks_text(ranks)),
                               fmt::to_string(limit.rlim_cur), fmt::format("ulimit -n {}, or fewer ranks", needed)));
}

// Sets `ranks` and `hosts` to the layout's ranks on each host. Hosts are taken to be like this one.
RankOptions with_layout(RankOptions options, const RankLayout& layout) {
  const std::int64_t each = ranks_per_node(layout, runtime::usable_cores());
  std::int64_t ranks = each;
  if (!options.hosts.empty() || !options.hosts_from.empty()) {
    if (!options.hosts.empty()) require_hosts(options.hosts);
    const HostList hosts = with_slots(
        options.hosts.empty() ? hosts_from(options.hosts_from, dist::own_environment()) : parse_hosts(options.hosts),
        each);
    ranks = slots_of(hosts);
    options.hosts = text_of(hosts);
  }
  if (options.ranks > 0 && options.ranks != ranks) {
    throw ConfigError(error_text("cli.launch", "--ranks",
                                 fmt::format("{}, as --ppn {} gives", ranks, options.layout.per_node),
                                 fmt::to_string(options.ranks), "--ppn alone"));
  }
  const bool is_plain = ranks == 1 && options.hosts.empty() && options.ranks == 0;
  options.ranks = is_plain ? 0 : ranks;
  return options;
}

// True if a list of hosts names another host than this one.
bool names_other_hosts(const std::string& hosts) {
  if (hosts.empty()) return false;
  return std::ranges::any_of(parse_hosts(hosts), [](const HostSlots& host) {
    return host.name != "localhost" && host.name != "127.0.0.1" && host.name != dist::own_host();
  });
}

GroupStart group_start(std::int64_t ranks, const std::string& hosts) {
  return {.mpi = dist::load_mpi().family,
          .ranks = ranks,
          .hosts = hosts,
          .is_root = ::geteuid() == 0,
          .environment = dist::own_environment()};
}

}  // namespace

RankOptions with_hosts(RankOptions options, const RankLayout& layout) {
  if (!options.hosts_from.empty() && !options.hosts.empty()) {
    throw ConfigError(error_text("cli.launch", "--hosts or --hosts-from", "one of them", "both", "--hosts-from alone"));
  }
  if (layout.has_ranks_per_node()) return with_layout(std::move(options), layout);
  if (!options.hosts.empty()) {
    require_hosts(options.hosts);
    if (options.ranks == 0) options.ranks = slots_of(parse_hosts(options.hosts));
  }
  if (options.hosts_from.empty()) return options;
  const HostList hosts = first_slots(hosts_from(options.hosts_from, dist::own_environment()), options.ranks);
  options.ranks = slots_of(hosts);
  options.hosts = text_of(hosts);
  return options;
}

GroupEnd start_group(const RankOptions& options, const std::vector<std::string>& command, GroupOptions how) {
  if (options.hosts.empty()) {
    require_open_files(options.ranks);
  } else {
    require_hosts(options.hosts);
  }
  GroupStart start = group_start(options.ranks, options.hosts);
  start.is_killed_at_once = how.on_signal == OnSignal::Save;  // what they have saved is whole
  how.ranks = options.ranks;
  how.may_be_remote = !options.hosts.empty();
  how.has_other_hosts = names_other_hosts(options.hosts);
  how.is_tagged = options.is_tagged;
  const std::chrono::seconds timeout(options.timeout_s);
  how.after_end = std::clamp<std::chrono::milliseconds>(timeout, kShortestLimit, how.after_end);
  how.to_start = std::max(timeout, kShortestLimit);
  // Shortest time limit for the first rank. A rank on this host starts within seconds unless mpirun itself hangs.
  constexpr std::chrono::seconds kToBegin{60};
  how.to_begin = std::max(kToBegin, timeout);
  // This process sees ranks on other hosts only when all ranks have connected. The ranks limit that time themselves.
  constexpr std::chrono::seconds kLater{10};
  if (how.may_be_remote) how.to_begin += timeout + kLater;
  return run_group(mpirun_command(start, command), how);
}

GroupEnd start_groups(RankOptions options, const std::vector<std::string>& command) {
  if (!options.hosts.empty()) require_hosts(options.hosts);
  const RestartCalls calls{.start =
                               [&options](const RankGroup& group) {
                                 options.ranks = group.ranks;
                                 options.hosts = text_of(group.hosts);
                                 return start_group(options, group.command,
                                                    {.on_signal = options.is_stoppable ? OnSignal::Save : OnSignal::End,
                                                     .has_resume = options.is_stoppable});
                               },
                           .find_answering =
                               [](const HostList& hosts) {
                                 constexpr std::chrono::seconds kLimit{15};
                                 const auto command_for = [](const HostSlots& host) {
                                   return mpirun_command(group_start(1, host.name + ":1"), {"true"});
                                 };
                                 return find_answering(hosts, command_for, kLimit);
                               }};
  return run_with_restarts({.ranks = options.ranks,
                            .hosts = options.hosts.empty() ? HostList{} : parse_hosts(options.hosts),
                            .command = command,
                            .servers = train::parse_server_options(options.servers).servers},
                           options.restart, calls);
}

}  // namespace roentgen::cli
