// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// From emitted entries to a finished plan: shared memory, offsets, arenas in bucket order.
#pragma once

#include <vector>

#include "engine/plan/plan_builder.h"

namespace roentgen::engine {

/// Arenas' extents, in elements.
struct Arenas {
  std::int64_t parameters = 0;
  std::int64_t state = 0;
  std::vector<Bucket> buckets;
};

/// Lets tensors share memory where an entry may write over what it reads last, assigns offsets of planned tensors, lays
/// parameters and gradients out in the order their gradients become final, cuts buckets, fills in the memory report.
[[nodiscard]] Arenas finish_plan(PlanBuilder& builder);

}  // namespace roentgen::engine
