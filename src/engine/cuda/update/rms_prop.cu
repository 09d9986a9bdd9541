// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
// State arrays: mean square, then momentum, then mean gradient; arrays that the options do not need are left out.
template <bool HasMomentum, bool IsCentered>
struct Step {
  static constexpr int kStates = 1 + (HasMomentum ? 1 : 0) + (IsCentered ? 1 : 0);
  float lr, momentum, alpha, rest, epsilon;
  __device__ void operator()(const UpdateNumbers& numbers, UpdateElement<kStates>& e) const {
    const float gradient = fmaf(numbers.weight_decay, e.target, numbers.scale * e.source);
    float square = fmaf(alpha, e.state[0], rest * gradient * gradient);
    e.state[0] = square;
    if constexpr (IsCentered) {
      constexpr int kMean = HasMomentum ? 2 : 1;
      const float mean = fmaf(alpha, e.state[kMean], rest * gradient);
      e.state[kMean] = mean;
      square = square - mean * mean;
      square = square < 0.0F ? 0.0F : square;
    }
    float change = gradient / (sqrtf(square) + epsilon);
    if constexpr (HasMomentum) {
      change = fmaf(momentum, e.state[1], change);
      e.state[1] = change;
    }
    e.target = fmaf(-lr, change, e.target);
  }
};
template <bool HasMomentum, bool IsCentered>
void launch_rms_prop(const RmsProp& rule, const UpdateCall& call) {
  using Form = Step<HasMomentum, IsCentered>;
  launch_update<Form::kStates>(Form{.lr = static_cast<float>(call.work.lr),
                                    .momentum = static_cast<float>(rule.momentum),
                                    .alpha = static_cast<float>(rule.alpha),
                                    .rest = static_cast<float>(1.0 - rule.alpha),
                                    .epsilon = static_cast<float>(rule.epsilon)},
                               call);
}
}  // namespace

void update(const RmsProp& rule, const UpdateCall& call) {
  if (rule.momentum > 0.0) {
    return rule.centered ? launch_rms_prop<true, true>(rule, call) : launch_rms_prop<true, false>(rule, call);
  }
  rule.centered ? launch_rms_prop<false, true>(rule, call) : launch_rms_prop<false, false>(rule, call);
}

}  // namespace roentgen::engine::cuda
