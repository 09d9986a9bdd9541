// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that compute StepState::scale, the factor of an update's source. It is clipped by the norm if there is a
// limit, and divided by the loss scale if there is one.
#pragma once

#include <cstddef>

#include "engine/cuda/plan/lowering.h"
#include "engine/update/update.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Doubles of scratch of store_clipped_scale().
inline constexpr std::size_t kNormPartials = 512;

/// state->scale = scale. `state` here and below lies in device memory.
void store_scale(runtime::Stream& stream, StepState* state, float scale);
/// *norm = work.scale / state->loss_scale * L2 norm of work.source, summed in double in a fixed order. state->scale =
/// work.scale / state->loss_scale, clipped by UpdateWork::clip_norm. state->is_unsound = 1 if the norm is not finite.
/// Reads each element once. Elements outside of slices are zero, so the whole arena is summed.
/// @param growth_updates LossScaling's, and the loss scale changes as it says; 0: it does not
void store_clipped_scale(runtime::Stream& stream, StepState* state, const UpdateWork& work, std::int64_t growth_updates,
                         double* partial, double* norm);

}  // namespace roentgen::engine::cuda
