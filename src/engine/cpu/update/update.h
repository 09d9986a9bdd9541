// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Update rules on the CPU. Each rule reads and writes every element of its ranges once. If gradient, weight and state
// are zero, they stay zero; so padding stays zero. The result depends neither on the number of threads nor on the
// instruction set.
#pragma once

#include "engine/update/update_list.h"

namespace roentgen::engine::cpu {

/// Work of a rule: its numbers for this step, and the number of threads.
struct UpdateCall {
  const UpdateWork& work;
  double scale = 1.0;  ///< UpdateWork::scale, including clipping
  int threads = 1;     ///< number of compute threads, at least 1
};

/// Address of the first element of a range, in host memory.
[[nodiscard]] inline float* at(const Arena& arena, const UpdateRange& range) {
  return arena.host().data() + range.begin;
}

// Every update rule in update_list.h defines this function, in a source file named after the rule.
#define RG_UPDATE_KERNEL(Rule) void update(const Rule& rule, const UpdateCall& call);
RG_UPDATE_LIST(RG_UPDATE_KERNEL)
#undef RG_UPDATE_KERNEL

}  // namespace roentgen::engine::cpu
