// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sums a value over the threads of a CUDA block, in double. For .cu files.
#pragma once

#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {

/// Number of threads that a block must have to call sum_of_block().
inline constexpr int kSumThreads = 256;

/// Returns the sum of `value` over all threads of the block, to every thread. Adds the upper half of the threads to the
/// lower half, repeatedly, so the order is fixed.
__device__ inline double sum_of_block(double value) {
  RG_SHARED(double, sums, [kSumThreads]);
  sums[threadIdx.x] = value;
  __syncthreads();
  for (unsigned by = kSumThreads / 2; by > 0; by /= 2) {
    if (threadIdx.x < by) sums[threadIdx.x] += sums[threadIdx.x + by];
    __syncthreads();
  }
  const double sum = sums[0];
  __syncthreads();
  return sum;
}

}  // namespace roentgen::engine::cuda
