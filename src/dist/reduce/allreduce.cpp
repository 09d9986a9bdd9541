// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `allreduce`: the communicator's own collective, whose order of summing is its affair. MPI would round every partial
// sum to the wire format; with one, all ranks therefore exchange shares, each summed in float32 in the order of ranks.
#include <numeric>

#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {

Schedule make_allreduce_schedule(const Topology& topology) {
  std::vector<int> members(static_cast<std::size_t>(topology.size));
  std::iota(members.begin(), members.end(), 0);
  Schedule schedule{.is_communicators_own = true};
  append_exchange(schedule, members, static_cast<std::size_t>(topology.rank));
  return schedule;
}

}  // namespace roentgen::dist
