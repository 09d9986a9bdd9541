// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/apply.h"

namespace roentgen::engine::cuda {
namespace {
struct Step {
  bool is_first;
  __device__ void operator()(const UpdateNumbers&, UpdateElement<0>& e) const {
    e.target = is_first ? e.source : e.target + e.source;
  }
};
}  // namespace

void update(const Accumulate& rule, const UpdateCall& call) { launch_update<0>(Step{.is_first = rule.is_first}, call); }

}  // namespace roentgen::engine::cuda
