// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `exchange`: every rank sums one share of the elements of all ranks, in the order of ranks, and sends its mean to all.
// This is a direct reduce-scatter and all-gather. The order of summation depends only on the number of ranks.
#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {

Schedule make_exchange_schedule(const Topology& topology) {
  Schedule schedule;
  append_exchange(schedule, all_ranks(topology), static_cast<std::size_t>(topology.rank));
  return schedule;
}

}  // namespace roentgen::dist
