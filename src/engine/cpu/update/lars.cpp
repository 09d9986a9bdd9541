// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <cmath>

#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"

namespace roentgen::engine::cpu {
namespace {

// Factor of a layer's rate. It is 1 where undefined: if weights or gradients are all zero.
double adaptation(const Lars& rule, const UpdateCall& call, const UpdateRange& range) {
  const auto count = static_cast<std::size_t>(range.count);
  const double weights = std::sqrt(sum_of_squares({at(call.work.target, range), count}, call.threads));
  const double gradients = call.scale * std::sqrt(sum_of_squares({at(call.work.source, range), count}, call.threads));
  if (!(weights > 0.0) || !(gradients > 0.0)) return 1.0;
  return rule.trust * weights / (gradients + range.weight_decay * weights);
}

void pass(const Lars& rule, const UpdateCall& call, const UpdateRange& range, double adapted) {
  float* const p = at(call.work.target, range);
  float* const b = at(*call.work.state[0], range);
  const float* const g = at(call.work.source, range);
  const auto scale = static_cast<float>(call.scale * adapted);
  const auto decay = static_cast<float>(range.weight_decay * adapted);
  const auto lr = static_cast<float>(call.work.lr);
  const auto momentum = static_cast<float>(rule.momentum);
  for_chunks(range.count, call.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const float buffer = momentum * b[i] + (scale * g[i] + decay * p[i]);
      b[i] = buffer;
      p[i] -= lr * buffer;
    }
  });
}

}  // namespace

void update(const Lars& rule, const UpdateCall& call) {
  for (const UpdateRange& range : call.work.ranges) {
    pass(rule, call, range, range.is_layer ? adaptation(rule, call, range) : 1.0);
  }
}

}  // namespace roentgen::engine::cpu
