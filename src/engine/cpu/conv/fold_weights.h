// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Folds a batch norm's running statistics, scale and shift into the weights of the convolution before it.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/plan/kernel.h"
#include "engine/plan/parameter_layout.h"

namespace roentgen::engine::cpu {

/// Folding with f[c] = scale[c] / sqrt(variance[c] + epsilon), for every output channel c:
///   folded_weights[c, ...] = f[c] * weights[c, ...], folded_bias[c] = shift[c] + f[c] * (bias[c] - mean[c]).
/// Computed in double and rounded once. Vectors have `channels` floats; weights are stored in `layout`.
struct WeightFolding {
  TensorId weights = -1;
  TensorId bias = -1;  ///< tensor of the bias; -1: no bias, which counts as zero
  TensorId scale = -1;
  TensorId shift = -1;
  TensorId mean = -1;
  TensorId variance = -1;
  TensorId folded_weights = -1;
  TensorId folded_bias = -1;
  double epsilon = 1e-5;
  std::int64_t channels = 0;
  /// Number of weights of one output channel, without padding.
  std::int64_t weights_per_channel = 0;
  std::shared_ptr<const ParameterLayout> layout;
};
/// Returns a kernel that folds a batch norm into weights. It runs before inference, after weights were set, and
/// allocates memory for the weights before folding.
[[nodiscard]] std::unique_ptr<Kernel> fold_weights_kernel(WeightFolding work);

}  // namespace roentgen::engine::cpu
