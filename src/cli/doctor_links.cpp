// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/doctor_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/cases/links.h"
#include "bench/ranks.h"
#include "cli/host_list.h"
#include "cli/launch.h"
#include "cli/mpirun_command.h"
#include "core/error.h"
#include "core/error_parts.h"
#include "dist/card_links.h"
#include "dist/comm_thread.h"
#include "runtime/stream.h"

namespace roentgen::cli {
namespace {

/// Measures averages between the GPUs of all ranks.
Value card_links(dist::Communicator& group) {
  const auto cards = runtime::find_cuda_devices().devices;
  const auto index = static_cast<std::size_t>(group.local_rank());
  const bool has_card = index < cards.size();
  const std::vector<double> have = bench::gather(group, has_card ? 1.0 : 0.0);
  const auto without = std::ranges::find(have, 0.0);
  if (without != have.end()) {
    return Value::Table{{"reason", fmt::format("rank {} has no GPU to itself", without - have.begin())}};
  }
  const auto device = runtime::make_cuda_device(cards[index].index);
  try {
    const dist::CardLinks links = dist::measure_card_links(group, {.device = *device, .id = cards[index].bus}, {});
    return Value::Table{
        {"library", links.library}, {"gb_per_s", links.bytes_per_s * 1e-9}, {"latency_us", links.latency_s * 1e6}};
  } catch (const ConfigError& error) {  // on all ranks alike: NCCL cannot be used
    return Value::Table{{"reason", with_remedy(error.what(), {})}};
  }
}

}  // namespace

Value measure_links_on(const std::string& hosts, const std::vector<std::string>& changed) {
  RankOptions options{.ranks = std::max<std::int64_t>(2, std::ssize(runtime::find_cuda_devices().devices)),
                      .may_oversubscribe = true};
  if (!hosts.empty()) {
    require_hosts(hosts);
    const HostList list = parse_hosts(hosts);
    options.hosts = text_of(list);
    options.ranks = slots_of(list);
  }
  if (options.ranks < 2) {
    throw ConfigError(error_text("cli.doctor", "--hosts", "at least two ranks", hosts, "--hosts a:1,b:1"));
  }
  return run_for_json(options, changed);
}

CommandResult links_as_rank(const std::string& gdr) {
  return run_as_ranks({.gdr = gdr}, [](dist::CommThread* group) {
    CommandResult result;
    group->call([&](dist::Communicator& all) {
      // Large messages, so that the first burst that a port buffers does not count as bandwidth.
      result.json = bench::run_links(all, {.message_bytes = std::size_t{8} << 20U, .rounds = 3});
      result.json.set("cards", card_links(all));
    });
    return result;
  });
}

}  // namespace roentgen::cli
