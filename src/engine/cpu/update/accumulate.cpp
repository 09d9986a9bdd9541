// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <algorithm>

#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"

namespace roentgen::engine::cpu {

void update(const Accumulate& rule, const UpdateCall& call) {
  for (const UpdateRange& range : call.work.ranges) {
    float* const total = at(call.work.target, range);
    const float* const fresh = at(call.work.source, range);
    const bool is_first = rule.is_first;
    for_chunks(range.count, call.threads, [=](std::int64_t begin, std::int64_t end) {
      if (is_first) {
        std::copy(fresh + begin, fresh + end, total + begin);
        return;
      }
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) total[i] += fresh[i];
    });
  }
}

}  // namespace roentgen::engine::cpu
