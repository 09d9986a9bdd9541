// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// From lowered entries to a finished plan: shared memory, offsets, arenas in bucket order.
#pragma once

#include <vector>

#include "engine/cpu/plan/lowering.h"

namespace roentgen::engine::cpu {

/// Arenas' extents, in elements.
struct Arenas {
  std::int64_t parameters = 0;
  std::int64_t state = 0;
  std::vector<ParameterSlice> slices;
  std::vector<Bucket> buckets;
};

/// Lets tensors share memory where an entry may write over what it reads last, assigns offsets of planned tensors, lays
/// parameters and gradients out in the order their gradients become final, cuts buckets, fills in the memory report.
[[nodiscard]] Arenas finish_plan(Lowering& lowering);

}  // namespace roentgen::engine::cpu
