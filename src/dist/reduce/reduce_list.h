// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of algorithms that average a bucket: X(name) declares `Schedule make_<name>_schedule(const Topology&)`,
// which dist/reduce/<name>.cpp defines. All give the same bits on all ranks, and the same every time for the same
// group.
#pragma once

#include "dist/reduce/schedule.h"

#define RG_REDUCE_LIST(X) \
  X(allreduce)            \
  X(exchange)             \
  X(ring)                 \
  X(tree)                 \
  X(hierarchical)

namespace roentgen::dist {

#define RG_REDUCE_SCHEDULE(name) [[nodiscard]] Schedule make_##name##_schedule(const Topology& topology);
RG_REDUCE_LIST(RG_REDUCE_SCHEDULE)
#undef RG_REDUCE_SCHEDULE

}  // namespace roentgen::dist
