// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"

namespace roentgen::engine::cpu {

void update(const Average& rule, const UpdateCall& call) {
  const auto share = static_cast<float>(rule.share);
  for (const UpdateRange& range : call.work.ranges) {
    float* const average = at(call.work.target, range);
    const float* const now = at(call.work.source, range);
    for_chunks(range.count, call.threads, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) average[i] += share * (now[i] - average[i]);
    });
  }
}

}  // namespace roentgen::engine::cpu
