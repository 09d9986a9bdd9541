// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/block_sum.h"
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
// Writes to squares[2 x] and squares[2 x + 1] the sums of squares of a part's weights and gradients. Grid: x, one block
// per part. Reads weights and gradients once: 8 bytes per parameter.
__global__ void __launch_bounds__(kSumThreads)
    squares_kernel(const UpdatePart* parts, const float* weights, const float* gradients, double* squares) {
  const UpdatePart part = parts[blockIdx.x];
  double weight_squares = 0.0, gradient_squares = 0.0;
  for (int i = static_cast<int>(threadIdx.x); i < part.count; i += kSumThreads) {
    const double w = weights[part.begin + i], g = gradients[part.begin + i];
    weight_squares += w * w;
    gradient_squares += g * g;
  }
  weight_squares = sum_of_block(weight_squares), gradient_squares = sum_of_block(gradient_squares);
  if (threadIdx.x != 0) return;
  squares[2 * blockIdx.x] = weight_squares, squares[2 * blockIdx.x + 1] = gradient_squares;
}

// Computes factors[x] = trust |w| / (|g| + decay |w|), with norms in double. It is 1 if a norm is 0 or the range is not
// a layer. Grid: x, one block per range, which adds the sums of its parts. Reads 16 bytes per part of 2,048 parameters.
__global__ void __launch_bounds__(kSumThreads) factor_kernel(const UpdateLayer* layers, const double* squares,
                                                             double trust, const StepState* state, float* factors) {
  const UpdateLayer layer = layers[blockIdx.x];
  double weight_squares = 0.0, gradient_squares = 0.0;
  for (int i = static_cast<int>(threadIdx.x); i < layer.part_count; i += kSumThreads) {
    weight_squares += squares[2 * (layer.first_part + i)];
    gradient_squares += squares[2 * (layer.first_part + i) + 1];
  }
  const double w = sqrt(sum_of_block(weight_squares));
  const double g = static_cast<double>(state->scale) * sqrt(sum_of_block(gradient_squares));
  if (threadIdx.x != 0) return;
  const bool adapts = layer.is_layer != 0 && w > 0.0 && g > 0.0;
  factors[blockIdx.x] = adapts ? static_cast<float>(trust * w / (g + layer.weight_decay * w)) : 1.0F;
}

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
  const auto ranges = static_cast<unsigned>(call.work.ranges.size());
  launch(call.stream, "launch of the squares of layers",
         {.blocks = dim3(static_cast<unsigned>(call.part_count)), .threads = dim3(kSumThreads)}, &squares_kernel,
         call.parts, call.work.target.device().address, call.work.source.device().address, call.squares);
  launch(call.stream, "launch of the factors of layers", {.blocks = dim3(ranges), .threads = dim3(kSumThreads)},
         &factor_kernel, call.layers, call.squares, rule.trust, call.state, call.factors);
  launch_update<1>(Step{.lr = static_cast<float>(call.work.lr), .momentum = static_cast<float>(rule.momentum)}, call,
                   call.factors);
}

}  // namespace roentgen::engine::cuda
