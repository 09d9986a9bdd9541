// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CUDA kernel that all update rules share. For .cu files.
#pragma once

#include <utility>

#include "core/error.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/update/updates.h"

namespace roentgen::engine::cuda {

inline constexpr int kMostStates = 3;       ///< largest number of state arrays of an update rule
inline constexpr int kUpdateThreads = 256;  ///< threads per block
inline constexpr int kUpdateWide = 4;       ///< elements per access
/// Number of accesses to each array that a thread keeps in flight.
inline constexpr int kUpdateUnroll = 2;
static_assert(kUpdateThreads * kUpdateWide * kUpdateUnroll == kPartElements);

/// Arrays of an update, in device memory.
struct UpdateArrays {
  float* target = nullptr;
  const float* source = nullptr;
  float* state[kMostStates] = {};  ///< state arrays of the update rule, in the order of its state()
  const float* factors = nullptr;  ///< one factor per range; null: all 1
};
/// Values that all elements of an UpdatePart share.
struct UpdateNumbers {
  float weight_decay;
  float scale;   ///< factor of the source
  float factor;  ///< factor of the range; 1 for rules without factors
};
/// Values of one element in the target, the source and each state array.
template <int States>
struct UpdateElement {
  float target, source;
  float state[States > 0 ? States : 1];
};

/// Calls rule(numbers, element) for every element of every part and writes target and state, unless the step is
/// unsound. The grid has one block per part. Reads target, source and state once and writes target and state: 12
/// bytes per element, and 8 per state.
template <typename Rule, int States>
__global__ void __launch_bounds__(kUpdateThreads)
    update_kernel(Rule rule, UpdateArrays arrays, const UpdatePart* parts, const StepState* state) {
  if (state->is_unsound != 0) return;
  const UpdatePart part = parts[blockIdx.x];
  const UpdateNumbers numbers{part.weight_decay, state->scale,
                              arrays.factors == nullptr ? 1.0F : arrays.factors[part.range]};
  float* const target = arrays.target + part.begin;
  const float* const source = arrays.source + part.begin;
  constexpr int kArrays = States > 0 ? States : 1;
  float* states[kArrays];
  RG_UNROLL
  for (int s = 0; s < States; ++s) states[s] = arrays.state[s] + part.begin;
  const bool is_aligned = part.begin % kUpdateWide == 0;
  const int first = static_cast<int>(threadIdx.x) * kUpdateWide;
  Pack<float, kUpdateWide> target_pack[kUpdateUnroll], source_pack[kUpdateUnroll], state_pack[kUpdateUnroll][kArrays];
  RG_UNROLL
  for (int u = 0; u < kUpdateUnroll; ++u) {
    const int i = first + u * kUpdateThreads * kUpdateWide;
    if (!is_aligned || i + kUpdateWide > part.count) continue;
    target_pack[u] = load_pack<kUpdateWide>(target + i);
    source_pack[u] = load_pack<kUpdateWide>(source + i);
    RG_UNROLL
    for (int s = 0; s < States; ++s) state_pack[u][s] = load_pack<kUpdateWide>(states[s] + i);
  }
  RG_UNROLL
  for (int u = 0; u < kUpdateUnroll; ++u) {
    const int i = first + u * kUpdateThreads * kUpdateWide;
    if (!is_aligned || i + kUpdateWide > part.count) {
      for (int j = i; j < i + kUpdateWide && j < part.count; ++j) {
        UpdateElement<States> element{target[j], source[j], {}};
        for (int s = 0; s < States; ++s) element.state[s] = states[s][j];
        rule(numbers, element);
        target[j] = element.target;
        for (int s = 0; s < States; ++s) states[s][j] = element.state[s];
      }
      continue;
    }
    RG_UNROLL
    for (int k = 0; k < kUpdateWide; ++k) {
      UpdateElement<States> element{target_pack[u].at[k], source_pack[u].at[k], {}};
      RG_UNROLL
      for (int s = 0; s < States; ++s) element.state[s] = state_pack[u][s].at[k];
      rule(numbers, element);
      target_pack[u].at[k] = element.target;
      RG_UNROLL
      for (int s = 0; s < States; ++s) state_pack[u][s].at[k] = element.state[s];
    }
    store_pack(target + i, target_pack[u]);
    RG_UNROLL
    for (int s = 0; s < States; ++s) store_pack(states[s] + i, state_pack[u][s]);
  }
}

/// Queues update_kernel() for an update rule with `States` arrays of optimizer state per parameter.
/// @param factors LARS's learning-rate factor of each parameter tensor; null for all other rules
template <int States, typename Rule>
void launch_update(const Rule& rule, const UpdateCall& call, const float* factors = nullptr) {
  static_assert(States <= kMostStates);
  RG_ASSERT(call.work.state.size() == States);
  UpdateArrays arrays{
      .target = call.work.target.device().address, .source = call.work.source.device().address, .factors = factors};
  for (std::size_t i = 0; i < call.work.state.size(); ++i) arrays.state[i] = call.work.state[i]->device().address;
  launch(call.stream, "launch of an update",
         {.blocks = dim3(static_cast<unsigned>(call.part_count)), .threads = dim3(kUpdateThreads)},
         &update_kernel<Rule, States>, rule, arrays, call.parts, call.state);
}

}  // namespace roentgen::engine::cuda
