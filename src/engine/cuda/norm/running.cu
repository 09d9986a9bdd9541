// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of running.h.
#include "engine/cuda/norm/running.h"

#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 128;

// Grid: x blocks of kThreads channels. Reads 16 bytes per channel and writes 8.
__global__ void __launch_bounds__(kThreads) running_kernel(RunningNorm work) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i >= work.channels) return;
  const double inv_std = 1.0 / sqrt(static_cast<double>(work.var[i]) + work.epsilon);
  const float scale = work.gamma[i] * static_cast<float>(inv_std);
  work.scale[i] = scale;
  work.shift[i] = fmaf(-work.mean[i], scale, work.beta[i]);
}

}  // namespace

void scale_from_running(runtime::Stream& stream, const RunningNorm& work) {
  const auto blocks = static_cast<unsigned>(ceil_div(work.channels, kThreads));
  launch(stream, "launch of scale_from_running", {.blocks = dim3(blocks), .threads = dim3(kThreads)}, &running_kernel,
         work);
}

}  // namespace roentgen::engine::cuda
