// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "bench/rounds.h"
#include "core/error.h"

namespace roentgen::bench {

std::unique_ptr<dist::Communicator> join_ranks(std::string_view case_name) {
  auto group = dist::make_communicator("mpi");
  if (group->size() > 1) return group;
  const std::string name(case_name);
  throw ConfigError(
      error_text("bench." + name, "ranks", "at least 2 processes", "1", "mpirun -np 2 roentgen bench " + name));
}

std::vector<double> gather(dist::Communicator& group, double own) {
  std::vector<double> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)), {"figures of all ranks"})
      .wait(kRankLimit);
  return all;
}

std::vector<std::vector<double>> interleave_ranks(dist::Communicator& group, std::size_t arms, std::int64_t rounds,
                                                  const std::function<double(std::size_t)>& run) {
  return interleave(arms, rounds, [&](std::size_t arm) {
    group.barrier({"round"}).wait(kRankLimit);
    return std::ranges::max(gather(group, run(arm)));
  });
}

runtime::CoreList first_cores(int threads) {
  runtime::CoreList cores = runtime::usable_cores();
  cores.resize(std::min<std::size_t>(cores.size(), static_cast<std::size_t>(threads)));
  return cores;
}

bool are_too_many(int threads) { return threads > static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); }

void add_ranks(Value& result, dist::Communicator& group) {
  result.set("ranks", group.size());
  Value hosts = Value::array();
  for (int rank = 0; rank < group.size(); ++rank) hosts.push_back(group.host(rank));
  result.set("hosts", std::move(hosts));
  const bool is_oversubscribed = std::ranges::max(gather(group, are_too_many(group.local_size()) ? 1.0 : 0.0)) > 0.0;
  result.set("oversubscribed", is_oversubscribed);
  if (!is_oversubscribed) return;
  Value warnings = Value::array();
  warnings.push_back(
      "[bench.ranks] a host has more ranks than hardware threads, so that ranks share cores and need longer");
  result.set("warnings", std::move(warnings));
}

}  // namespace roentgen::bench
