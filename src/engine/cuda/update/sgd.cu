// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
template <int States>
struct Step {
  float lr, momentum;
  bool nesterov;
  __device__ void operator()(const UpdateNumbers& numbers, UpdateElement<States>& e) const {
    const float gradient = fmaf(numbers.weight_decay, e.target, numbers.scale * e.source);
    float step = gradient;
    if constexpr (States > 0) {
      const float buffer = fmaf(momentum, e.state[0], gradient);
      e.state[0] = buffer;
      step = nesterov ? fmaf(momentum, buffer, gradient) : buffer;
    }
    e.target = fmaf(-lr, step, e.target);
  }
};
template <int States>
void launch_sgd(const Sgd& rule, const UpdateCall& call) {
  launch_update<States>(Step<States>{.lr = static_cast<float>(call.work.lr),
                                     .momentum = static_cast<float>(rule.momentum),
                                     .nesterov = rule.nesterov},
                        call);
}
}  // namespace

void update(const Sgd& rule, const UpdateCall& call) {
  call.work.state.empty() ? launch_sgd<0>(rule, call) : launch_sgd<1>(rule, call);
}

}  // namespace roentgen::engine::cuda
