// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
struct Step {
  float share;
  __device__ void operator()(const UpdateNumbers&, UpdateElement<0>& e) const {
    e.target = fmaf(share, e.source - e.target, e.target);
  }
};
}  // namespace

void update(const Average& rule, const UpdateCall& call) {
  launch_update<0>(Step{.share = static_cast<float>(rule.share)}, call);
}

}  // namespace roentgen::engine::cuda
