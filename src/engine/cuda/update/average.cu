// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
// Reads 8 bytes an element, writes 4.
struct Step {
  float share;
  __device__ void operator()(const UpdatePart&, const UpdateArrays& arrays, float, std::int64_t i) const {
    const float average = arrays.target[i];
    arrays.target[i] = fmaf(share, arrays.source[i] - average, average);
  }
};
}  // namespace

void update(const Average& rule, const UpdateCall& call) {
  launch_update(Step{.share = static_cast<float>(rule.share)}, call);
}

}  // namespace roentgen::engine::cuda
