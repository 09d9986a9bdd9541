// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `hierarchical`: the ranks of a host sum by a tree in host memory, in float32. The first ranks of all hosts then run
// an exchange in the wire format, and the results go back down the tree. The elements pass the network link of a host
// once in each direction, for any number of ranks per host. The order of summation depends on which ranks share a host.
#include <algorithm>

#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {

Schedule make_hierarchical_schedule(const Topology& topology) {
  const auto host_of = [&](int rank) { return topology.hosts.at(static_cast<std::size_t>(rank)); };
  std::vector<int> leaders, members;
  for (int rank = 0; rank < topology.size; ++rank) {
    const bool is_new = std::ranges::none_of(leaders, [&](int leader) { return host_of(leader) == host_of(rank); });
    if (is_new) leaders.push_back(rank);
    if (host_of(rank) == host_of(topology.rank)) members.push_back(rank);
  }
  const auto own = static_cast<std::size_t>(std::ranges::find(members, topology.rank) - members.begin());
  Schedule schedule;
  append_tree_up(schedule, members, own, {.is_mean = leaders.size() == 1, .is_exact = true});
  if (own == 0) {
    const auto place = std::ranges::find(leaders, topology.rank) - leaders.begin();
    append_exchange(schedule, leaders, static_cast<std::size_t>(place));
  }
  append_tree_down(schedule, members, own, {.is_exact = true});
  return schedule;
}

}  // namespace roentgen::dist
