// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Turns emitted entries into a finished plan: shared memory, offsets, arenas in bucket order.
#pragma once

#include <vector>

#include "engine/plan/plan_builder.h"

namespace roentgen::engine {

/// Sizes of the arenas in elements, and the gradient buckets.
struct Arenas {
  std::int64_t parameters = 0;
  std::int64_t state = 0;
  std::vector<Bucket> buckets;
};

/// Finishes a plan. Lets an entry's result overwrite a tensor that the entry reads, if the entry allows it and is the
/// tensor's last reader. Assigns offsets, lays out parameters and gradients in the order in which gradients become
/// final, cuts buckets, and fills in the memory report.
[[nodiscard]] Arenas finish_plan(PlanBuilder& builder);

}  // namespace roentgen::engine
