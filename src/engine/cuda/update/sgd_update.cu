// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
// Reads 8 to 12 bytes an element, writes 4 to 8.
struct Step {
  float lr, momentum;
  bool nesterov;
  __device__ void operator()(const UpdatePart& part, const UpdateArrays& arrays, float scale, std::int64_t i) const {
    const float p = arrays.target[i];
    const float gradient = fmaf(part.weight_decay, p, scale * arrays.source[i]);
    float step = gradient;
    if (arrays.state[0] != nullptr) {
      const float buffer = fmaf(momentum, arrays.state[0][i], gradient);
      arrays.state[0][i] = buffer;
      step = nesterov ? fmaf(momentum, buffer, gradient) : buffer;
    }
    arrays.target[i] = fmaf(-lr, step, p);
  }
};
}  // namespace

void update(const Sgd& rule, const UpdateCall& call) {
  launch_update(Step{.lr = static_cast<float>(call.work.lr),
                     .momentum = static_cast<float>(rule.momentum),
                     .nesterov = rule.nesterov},
                call);
}

}  // namespace roentgen::engine::cuda
