// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Backward of a bias followed by a ReLU in one pass, instead of a pass for the ReLU and one for the sums.
#pragma once

#include <cstddef>

#include "engine/cuda/norm/norm.h"

namespace roentgen::engine::cuda {

/// Tensors of relu_bias_gradient() in device memory, (rows, channels) channels last.
struct ReluBias {
  const std::byte* y = nullptr;   ///< result of the ReLU
  const std::byte* dy = nullptr;  ///< its gradient
  std::byte* dx = nullptr;        ///< gradient before the ReLU; may be equal to dy
  float* sums = nullptr;          ///< (channels) gradient of the bias, f32
};

/// Computes dx = dy where y > 0, else 0, and sums[c] = sum of dx over the rows, in f32 and in a fixed order. Reads y
/// and dy once and writes dx once. One launch.
void relu_bias_gradient(runtime::Stream& stream, const NormShape& shape, const ReluBias& work,
                        const NormScratch& scratch);

}  // namespace roentgen::engine::cuda
