// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that write single members of StepState (step_words.h). Each has one thread.
#include "engine/cuda/plan/step_words.h"

#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {

const Grid kOneThread{.blocks = dim3(1), .threads = dim3(1)};

// These kernels have one thread and move at most 40 bytes; their time is that of a launch.
__global__ void store_step_kernel(StepState* state, std::int64_t step) { state->step = step; }
__global__ void check_loss_kernel(StepState* state, const float* loss) {
  // The comparison is false for infinite values and NaN.
  if (!(fabsf(*loss) <= 3.4028235e38F)) state->is_unsound = 1;
}
__global__ void store_loss_scale_kernel(StepState* state, LossScale scale) {
  state->loss_scale = scale.scale;
  state->good_updates = scale.good_updates;
  state->skipped = scale.skipped;
}
__global__ void forget_unsound_kernel(StepState* state) { state->is_unsound = 0; }

}  // namespace

void store_step(runtime::Stream& stream, StepState* state, std::int64_t step) {
  launch(stream, "launch of store_step", kOneThread, &store_step_kernel, state, step);
}
void check_loss(runtime::Stream& stream, StepState* state, const float* loss) {
  launch(stream, "launch of check_loss", kOneThread, &check_loss_kernel, state, loss);
}
void store_loss_scale(runtime::Stream& stream, StepState* state, const LossScale& scale) {
  launch(stream, "launch of store_loss_scale", kOneThread, &store_loss_scale_kernel, state, scale);
}
void forget_unsound(runtime::Stream& stream, StepState* state) {
  launch(stream, "launch of forget_unsound", kOneThread, &forget_unsound_kernel, state);
}

}  // namespace roentgen::engine::cuda
