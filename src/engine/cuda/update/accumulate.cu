// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
// Reads 4 to 8 bytes an element, writes 4.
struct Step {
  bool is_first;
  __device__ void operator()(const UpdatePart&, const UpdateArrays& arrays, float, std::int64_t i) const {
    arrays.target[i] = is_first ? arrays.source[i] : arrays.target[i] + arrays.source[i];
  }
};
}  // namespace

void update(const Accumulate& rule, const UpdateCall& call) { launch_update(Step{.is_first = rule.is_first}, call); }

}  // namespace roentgen::engine::cuda
