// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that compute StepState::scale, the factor of an update's source. It includes clipping by the norm, if there
// is a limit, and division by the loss scale, if there is one.
#pragma once

#include <cstddef>

#include "engine/cuda/plan/lowering.h"
#include "engine/update/update.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Number of doubles of scratch for store_clipped_scale().
inline constexpr std::size_t kNormPartials = 512;

/// Writes state->scale = scale. `state` is in device memory, as for all functions of this file.
void store_scale(runtime::Stream& stream, StepState* state, float scale);
/// Computes *norm = work.scale / state->loss_scale * (L2 norm of work.source), summed in double in a fixed order.
/// Writes state->scale = work.scale / state->loss_scale, clipped by UpdateWork::clip_norm. Sets state->is_unsound = 1
/// if the norm is not finite. Reads each element once. It sums the whole arena, since elements outside of slices are
/// zero.
/// @param growth_updates LossScaling::growth_updates, by which the loss scale is updated; 0: the loss scale stays
/// unchanged
void store_clipped_scale(runtime::Stream& stream, StepState* state, const UpdateWork& work, std::int64_t growth_updates,
                         double* partial, double* norm);

}  // namespace roentgen::engine::cuda
