// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `allreduce`: the communicator's own collective, which chooses the order of summation. MPI would round every partial
// sum to the wire format. So with a wire format, all ranks exchange shares instead, summed in float32.
#include "dist/reduce/reduce_list.h"

namespace roentgen::dist {

Schedule make_allreduce_schedule(const Topology& topology) {
  Schedule schedule = make_exchange_schedule(topology);
  schedule.is_communicators_own = true;
  return schedule;
}

}  // namespace roentgen::dist
