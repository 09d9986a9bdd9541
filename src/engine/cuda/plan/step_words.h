// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that write single members of StepState (lowering.h).
#pragma once

#include <cstdint>

#include "engine/cuda/plan/lowering.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Writes state->step = step. `state` is in device memory, as for all functions of this file.
void store_step(runtime::Stream& stream, StepState* state, std::int64_t step);
/// Sets state->is_unsound = 1 if *loss is not finite.
void check_loss(runtime::Stream& stream, StepState* state, const float* loss);
/// Writes `scale` to the loss scale members of `state`.
void store_loss_scale(runtime::Stream& stream, StepState* state, const LossScale& scale);
/// Resets state->is_unsound to 0.
void forget_unsound(runtime::Stream& stream, StepState* state);

}  // namespace roentgen::engine::cuda
