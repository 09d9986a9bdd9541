// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"

namespace roentgen::engine::cpu {
namespace {

void plain(const UpdateCall& call, const UpdateRange& range) {
  float* const p = at(call.work.target, range);
  const float* const g = at(call.work.source, range);
  const auto scale = static_cast<float>(call.scale);
  const auto decay = static_cast<float>(range.weight_decay);
  const auto lr = static_cast<float>(call.work.lr);
  for_chunks(range.count, call.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) p[i] -= lr * (scale * g[i] + decay * p[i]);
  });
}

template <bool is_nesterov>
void with_momentum(const Sgd& rule, const UpdateCall& call, const UpdateRange& range) {
  float* const p = at(call.work.target, range);
  float* const b = at(*call.work.state[0], range);
  const float* const g = at(call.work.source, range);
  const auto scale = static_cast<float>(call.scale);
  const auto decay = static_cast<float>(range.weight_decay);
  const auto lr = static_cast<float>(call.work.lr);
  const auto momentum = static_cast<float>(rule.momentum);
  for_chunks(range.count, call.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const float gradient = scale * g[i] + decay * p[i];
      const float buffer = momentum * b[i] + gradient;
      b[i] = buffer;
      p[i] -= lr * (is_nesterov ? gradient + momentum * buffer : buffer);
    }
  });
}

}  // namespace

void update(const Sgd& rule, const UpdateCall& call) {
  for (const UpdateRange& range : call.work.ranges) {
    if (rule.momentum == 0.0) {
      plain(call, range);
    } else if (rule.nesterov) {
      with_momentum<true>(rule, call, range);
    } else {
      with_momentum<false>(rule, call, range);
    }
  }
}

}  // namespace roentgen::engine::cpu
