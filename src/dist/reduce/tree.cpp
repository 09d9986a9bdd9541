// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `tree`: Caffe's reduction in pairs (parallel.cpp of Caffe 1.0: 1 to 0 and 3 to 2, then 2 to 0; back the same way).
// The order of summation depends only on the number of ranks: ((0 + 1) + (2 + 3)) + .... So 2 n ranks give the bits of
// n ranks that each summed two neighbours.
#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {

Schedule make_tree_schedule(const Topology& topology) {
  const std::vector<int> members = all_ranks(topology);
  const auto own = static_cast<std::size_t>(topology.rank);
  Schedule schedule;
  append_tree_up(schedule, members, own, {.is_mean = true});
  append_tree_down(schedule, members, own, {});
  return schedule;
}

}  // namespace roentgen::dist
