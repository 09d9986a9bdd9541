// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Computes scale and shift of a batch norm in inference from its running statistics.
#pragma once

#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Work of scale_from_running(): scale = gamma / sqrt(var + epsilon), shift = beta - mean * scale. Pointers are to
/// device memory with `channels` elements.
struct RunningNorm {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;  ///< running mean
  const float* var = nullptr;   ///< running variance
  double epsilon = 1e-5;
  int channels = 0;
  float* scale = nullptr;
  float* shift = nullptr;
};
/// Queues the computation as one launch.
void scale_from_running(runtime::Stream& stream, const RunningNorm& work);

}  // namespace roentgen::engine::cuda
