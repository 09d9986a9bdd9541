// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A batch norm's running statistics, scale and shift folded into the weights of the convolution before it.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/plan/kernel.h"
#include "engine/plan/parameter_layout.h"

namespace roentgen::engine::cpu {

/// With f[c] = scale[c] / sqrt(variance[c] + epsilon), for every output channel c:
///   folded_weights[c, ...] = f[c] * weights[c, ...], folded_bias[c] = shift[c] + f[c] * (bias[c] - mean[c]).
/// Computed in double and rounded once. Vectors hold `channels` floats, weights lie in `layout`.
struct WeightFolding {
  TensorId weights = -1;
  TensorId bias = -1;  ///< -1: none, zero
  TensorId scale = -1;
  TensorId shift = -1;
  TensorId mean = -1;
  TensorId variance = -1;
  TensorId folded_weights = -1;
  TensorId folded_bias = -1;
  double epsilon = 1e-5;
  std::int64_t channels = 0;
  /// Number of plain weights of one output channel.
  std::int64_t weights_per_channel = 0;
  std::shared_ptr<const ParameterLayout> layout;
};
/// Allocates the plain weights on every run, which is allowed in preparations.
[[nodiscard]] std::unique_ptr<Kernel> fold_weights_kernel(WeightFolding work);

}  // namespace roentgen::engine::cpu
