// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The kernel that all update rules share. For .cu files.
#pragma once

#include "engine/cuda/launch.h"
#include "engine/cuda/update/updates.h"

namespace roentgen::engine::cuda {

/// Arrays of an update: device memory.
struct UpdateArrays {
  float* target = nullptr;
  const float* source = nullptr;
  float* state[3] = {};            ///< of the rule, in the order of its state()
  const float* factors = nullptr;  ///< one a range
};

/// Calls rule(part, arrays, scale, i) for every element i of every part, unless the step is unsound. Grid: x one block
/// a part; neighbouring threads have neighbouring elements. Bytes: those of the rule, each array once.
template <typename Rule>
__global__ void __launch_bounds__(256)
    update_kernel(Rule rule, UpdateArrays arrays, const UpdatePart* parts, const StepState* state) {
  if (state->is_unsound != 0) return;
  const float scale = state->scale;
  const UpdatePart part = parts[blockIdx.x];
  for (int i = static_cast<int>(threadIdx.x); i < part.count; i += 256) {
    rule(part, arrays, scale, part.begin + i);
  }
}

/// Queues it.
template <typename Rule>
void launch_update(const Rule& rule, const UpdateCall& call) {
  UpdateArrays arrays{.target = call.work.target.device().address,
                      .source = call.work.source.device().address,
                      .factors = call.factors};
  for (std::size_t i = 0; i < call.work.state.size(); ++i) arrays.state[i] = call.work.state[i]->device().address;
  launch(call.stream, "launch of an update",
         {.blocks = dim3(static_cast<unsigned>(call.part_count)), .threads = dim3(256)}, &update_kernel<Rule>, rule,
         arrays, call.parts, call.state);
}

}  // namespace roentgen::engine::cuda
