// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `ring`: every rank sends only to the next rank and receives only from the previous rank (Patarasuk and Yuan 2009).
// Each link carries as many bytes as in an exchange, but a network port has only one stream in each direction, which
// fills it. The order of summation depends on the number of ranks, and on the share of its segment to which an element
// belongs.
#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {

Schedule make_ring_schedule(const Topology& topology) {
  Schedule schedule;
  append_ring(schedule, all_ranks(topology), static_cast<std::size_t>(topology.rank));
  return schedule;
}

}  // namespace roentgen::dist
