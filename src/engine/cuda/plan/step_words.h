// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that write single words of StepState (lowering.h).
#pragma once

#include <cstdint>

#include "engine/cuda/plan/lowering.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// state->step = step. `state` here and below lies in device memory.
void store_step(runtime::Stream& stream, StepState* state, std::int64_t step);
/// state->is_unsound = 1 where *loss is not finite.
void check_loss(runtime::Stream& stream, StepState* state, const float* loss);
/// The loss scale of `state` = scale.
void store_loss_scale(runtime::Stream& stream, StepState* state, const LossScale& scale);
/// state->is_unsound = 0.
void forget_unsound(runtime::Stream& stream, StepState* state);

}  // namespace roentgen::engine::cuda
