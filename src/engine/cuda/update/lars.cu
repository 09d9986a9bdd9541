// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/block_sum.h"
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
// A range that is a layer.
struct Layer {
  std::int64_t begin, count;
  double weight_decay;
};

// *factor = trust |w| / (|g| + decay |w|), norms in double; 1 where one of them is 0. Grid: one block. Reads weights
// and gradients once.
__global__ void __launch_bounds__(kSumThreads) factor_kernel(Layer layer, const float* weights, const float* gradients,
                                                             double trust, const StepState* state, float* factor) {
  double weight_squares = 0.0, gradient_squares = 0.0;
  for (std::int64_t i = threadIdx.x; i < layer.count; i += kSumThreads) {
    const double w = weights[layer.begin + i], g = gradients[layer.begin + i];
    weight_squares += w * w;
    gradient_squares += g * g;
  }
  const double w = sqrt(sum_of_block(weight_squares));
  const double g = static_cast<double>(state->scale) * sqrt(sum_of_block(gradient_squares));
  if (threadIdx.x != 0) return;
  *factor = w > 0.0 && g > 0.0 ? static_cast<float>(trust * w / (g + layer.weight_decay * w)) : 1.0F;
}

__global__ void one_kernel(float* factor) { *factor = 1.0F; }

struct Step {
  float lr, momentum;
  __device__ void operator()(const UpdateNumbers& numbers, UpdateElement<1>& e) const {
    const float gradient = numbers.factor * fmaf(numbers.weight_decay, e.target, numbers.scale * e.source);
    const float buffer = fmaf(momentum, e.state[0], gradient);
    e.state[0] = buffer;
    e.target = fmaf(-lr, buffer, e.target);
  }
};
}  // namespace

void update(const Lars& rule, const UpdateCall& call) {
  for (std::size_t i = 0; i < call.work.ranges.size(); ++i) {
    const UpdateRange& range = call.work.ranges[i];
    if (!range.is_layer) {
      launch(call.stream, "launch of a factor", {.blocks = dim3(1), .threads = dim3(1)}, &one_kernel, call.factors + i);
      continue;
    }
    launch(call.stream, "launch of a factor", {.blocks = dim3(1), .threads = dim3(kSumThreads)}, &factor_kernel,
           Layer{range.begin, range.count, range.weight_decay}, call.work.target.device().address,
           call.work.source.device().address, rule.trust, call.state, call.factors + i);
  }
  launch_update<1>(Step{.lr = static_cast<float>(call.work.lr), .momentum = static_cast<float>(rule.momentum)}, call,
                   call.factors);
}

}  // namespace roentgen::engine::cuda
