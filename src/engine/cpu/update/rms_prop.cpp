// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <algorithm>
#include <cmath>

#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"

namespace roentgen::engine::cpu {
namespace {

template <bool has_momentum, bool is_centered>
void pass(const RmsProp& rule, const UpdateCall& call, const UpdateRange& range) {
  float* const p = at(call.work.target, range);
  float* const v = at(*call.work.state[0], range);
  float* const b = has_momentum ? at(*call.work.state[1], range) : nullptr;
  float* const a = is_centered ? at(*call.work.state[1 + has_momentum], range) : nullptr;
  const float* const g = at(call.work.source, range);
  const auto scale = static_cast<float>(call.scale);
  const auto decay = static_cast<float>(range.weight_decay);
  const auto lr = static_cast<float>(call.work.lr);
  const auto momentum = static_cast<float>(rule.momentum);
  const auto alpha = static_cast<float>(rule.alpha);
  const auto rest = static_cast<float>(1.0 - rule.alpha);
  const auto epsilon = static_cast<float>(rule.epsilon);
  for_chunks(range.count, call.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const float gradient = scale * g[i] + decay * p[i];
      float square = alpha * v[i] + rest * gradient * gradient;
      v[i] = square;
      if constexpr (is_centered) {
        const float mean = alpha * a[i] + rest * gradient;
        a[i] = mean;
        square = std::max(square - mean * mean, 0.0F);
      }
      float change = gradient / (std::sqrt(square) + epsilon);
      if constexpr (has_momentum) {
        change += momentum * b[i];
        b[i] = change;
      }
      p[i] -= lr * change;
    }
  });
}

}  // namespace

void update(const RmsProp& rule, const UpdateCall& call) {
  using Pass = void (*)(const RmsProp&, const UpdateCall&, const UpdateRange&);
  constexpr Pass kPasses[2][2] = {{pass<false, false>, pass<false, true>}, {pass<true, false>, pass<true, true>}};
  const Pass pass_of_options = kPasses[rule.momentum > 0.0][rule.centered];
  for (const UpdateRange& range : call.work.ranges) pass_of_options(rule, call, range);
}

}  // namespace roentgen::engine::cpu
