// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
// Reads 12 to 20 bytes an element, writes 8 to 16. `momenta`, `means`: index of the state, -1 without.
struct Step {
  float lr, momentum, alpha, rest, epsilon;
  int momenta, means;
  __device__ void operator()(const UpdatePart& part, const UpdateArrays& arrays, float scale, std::int64_t i) const {
    const float p = arrays.target[i];
    const float gradient = fmaf(part.weight_decay, p, scale * arrays.source[i]);
    float square = fmaf(alpha, arrays.state[0][i], rest * gradient * gradient);
    arrays.state[0][i] = square;
    if (means >= 0) {
      const float mean = fmaf(alpha, arrays.state[means][i], rest * gradient);
      arrays.state[means][i] = mean;
      square = square - mean * mean;
      square = square < 0.0F ? 0.0F : square;
    }
    float change = gradient / (sqrtf(square) + epsilon);
    if (momenta >= 0) {
      change = fmaf(momentum, arrays.state[momenta][i], change);
      arrays.state[momenta][i] = change;
    }
    arrays.target[i] = fmaf(-lr, change, p);
  }
};
}  // namespace

void update(const RmsProp& rule, const UpdateCall& call) {
  const bool has_momentum = rule.momentum > 0.0;
  launch_update(Step{.lr = static_cast<float>(call.work.lr),
                     .momentum = static_cast<float>(rule.momentum),
                     .alpha = static_cast<float>(rule.alpha),
                     .rest = static_cast<float>(1.0 - rule.alpha),
                     .epsilon = static_cast<float>(rule.epsilon),
                     .momenta = has_momentum ? 1 : -1,
                     .means = !rule.centered ? -1
                              : has_momentum ? 2
                                             : 1},
                call);
}

}  // namespace roentgen::engine::cuda
