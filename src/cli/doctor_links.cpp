// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/doctor_links.h"

#include "bench/cases/links.h"
#include "cli/host_list.h"
#include "cli/launch.h"
#include "cli/mpirun_command.h"
#include "core/error.h"
#include "dist/comm_thread.h"

namespace roentgen::cli {

Value measure_links_on(const std::string& hosts) {
  RankOptions options{.ranks = 2, .may_oversubscribe = true};
  if (!hosts.empty()) {
    require_hosts(hosts);
    const HostList list = parse_hosts(hosts);
    options.hosts = text_of(list);
    options.ranks = slots_of(list);
  }
  if (options.ranks < 2) {
    throw ConfigError(error_text("cli.doctor", "--hosts", "at least two ranks", hosts, "--hosts a:1,b:1"));
  }
  return run_for_json(options, {});
}

CommandResult links_as_rank() {
  return run_as_ranks({}, [](dist::CommThread* group) {
    CommandResult result;
    group->call([&](dist::Communicator& all) { result.json = bench::run_links(all, {}); });
    return result;
  });
}

}  // namespace roentgen::cli
