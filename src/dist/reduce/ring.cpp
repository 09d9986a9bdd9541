// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `ring`: every rank sends to the next one alone and receives from the one before alone (Patarasuk and Yuan 2009). As
// many bytes pass each link as in an exchange, and a network port has one stream each way, which fills it. The order of
// summing depends on the number of ranks, and on which share of its segment an element is in.
#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {

Schedule make_ring_schedule(const Topology& topology) {
  Schedule schedule;
  append_ring(schedule, all_ranks(topology), static_cast<std::size_t>(topology.rank));
  return schedule;
}

}  // namespace roentgen::dist
