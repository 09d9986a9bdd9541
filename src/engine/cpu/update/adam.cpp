// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <cmath>

#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"

namespace roentgen::engine::cpu {
namespace {

/// Numbers of Adam's update that all elements share.
struct Numbers {
  float step_size = 0.0F;     ///< lr / (1 - beta1^step)
  float inverse_root = 0.0F;  ///< 1 / sqrt(1 - beta2^step)
};

template <bool is_decoupled>
void pass(const Adam& rule, const UpdateCall& call, const UpdateRange& range, Numbers numbers) {
  float* const p = at(call.work.target, range);
  float* const m = at(*call.work.state[0], range);
  float* const v = at(*call.work.state[1], range);
  const float* const g = at(call.work.source, range);
  const auto scale = static_cast<float>(call.scale);
  const auto decay = static_cast<float>(range.weight_decay);
  const auto keep = static_cast<float>(1.0 - call.work.lr * range.weight_decay);
  const auto beta1 = static_cast<float>(rule.beta1);
  const auto beta2 = static_cast<float>(rule.beta2);
  const auto rest1 = static_cast<float>(1.0 - rule.beta1);
  const auto rest2 = static_cast<float>(1.0 - rule.beta2);
  const auto epsilon = static_cast<float>(rule.epsilon);
  for_chunks(range.count, call.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const float old = is_decoupled ? p[i] * keep : p[i];
      const float gradient = is_decoupled ? scale * g[i] : scale * g[i] + decay * old;
      const float mean = beta1 * m[i] + rest1 * gradient;
      const float square = beta2 * v[i] + rest2 * gradient * gradient;
      m[i] = mean;
      v[i] = square;
      p[i] = old - numbers.step_size * (mean / (std::sqrt(square) * numbers.inverse_root + epsilon));
    }
  });
}

}  // namespace

void update(const Adam& rule, const UpdateCall& call) {
  const auto time = static_cast<double>(call.work.step);
  const double correction1 = 1.0 - std::pow(rule.beta1, time);
  const double correction2 = 1.0 - std::pow(rule.beta2, time);
  const Numbers numbers{.step_size = static_cast<float>(call.work.lr / correction1),
                        .inverse_root = static_cast<float>(1.0 / std::sqrt(correction2))};
  for (const UpdateRange& range : call.work.ranges) {
    if (rule.decoupled) {
      pass<true>(rule, call, range, numbers);
    } else {
      pass<false>(rule, call, range, numbers);
    }
  }
}

}  // namespace roentgen::engine::cpu
