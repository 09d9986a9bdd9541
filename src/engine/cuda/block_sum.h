// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sum over a block, in double. For .cu files.
#pragma once

#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {

/// Threads of blocks that call sum_of_block().
inline constexpr int kSumThreads = 256;

/// Sum of the threads' values, in every thread: halves of the threads, in a fixed order.
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
