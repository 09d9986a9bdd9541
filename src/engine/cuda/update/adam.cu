// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <cmath>

#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
struct Step {
  float lr, beta1, beta2, rest1, rest2, epsilon;
  float step_size;     // lr / (1 - beta1^step)
  float inverse_root;  // 1 / sqrt(1 - beta2^step)
  bool is_decoupled;
  __device__ void operator()(const UpdateNumbers& numbers, UpdateElement<2>& e) const {
    float p = e.target, gradient = numbers.scale * e.source;
    if (is_decoupled) {
      p *= 1.0F - lr * numbers.weight_decay;
    } else {
      gradient = fmaf(numbers.weight_decay, p, gradient);
    }
    const float mean = fmaf(beta1, e.state[0], rest1 * gradient);
    const float square = fmaf(beta2, e.state[1], rest2 * gradient * gradient);
    e.state[0] = mean;
    e.state[1] = square;
    e.target = p - step_size * (mean / fmaf(sqrtf(square), inverse_root, epsilon));
  }
};
}  // namespace

void update(const Adam& rule, const UpdateCall& call) {
  const auto time = static_cast<double>(call.work.step);
  const double correction1 = 1.0 - std::pow(rule.beta1, time);
  const double correction2 = 1.0 - std::pow(rule.beta2, time);
  launch_update<2>(Step{.lr = static_cast<float>(call.work.lr),
                        .beta1 = static_cast<float>(rule.beta1),
                        .beta2 = static_cast<float>(rule.beta2),
                        .rest1 = static_cast<float>(1.0 - rule.beta1),
                        .rest2 = static_cast<float>(1.0 - rule.beta2),
                        .epsilon = static_cast<float>(rule.epsilon),
                        .step_size = static_cast<float>(call.work.lr / correction1),
                        .inverse_root = static_cast<float>(1.0 / std::sqrt(correction2)),
                        .is_decoupled = rule.decoupled},
                   call);
}

}  // namespace roentgen::engine::cuda
