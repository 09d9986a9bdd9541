// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Program checks <name>: runs a planted bug (planted.h), or with "kernels" the kernels of engine/cuda. It is compiled
// with a sanitizer, which reports what it finds.
#include <cstdio>
#include <cstring>

#include "engine/cuda/norm/norm_testing.h"
#include "engine/cuda/norm/segments_testing.h"
#include "engine/cuda/pool/norm_pool_testing.h"
#include "engine/cuda/update/update_testing.h"
#include "tests/emulated_cuda/planted.h"

namespace {

using namespace roentgen;
using namespace roentgen::emulated;

int run_kernels() {
  EmulatedDevice device;
  engine::cuda::Worst worst[5];
  const engine::cuda::NormShape shape{.rows = 60, .channels = 72, .multiprocessors = 1};
  worst[0] = engine::cuda::check_norm_forward(device, shape, 1);
  worst[1] = engine::cuda::check_norm_backward(device, shape, 1);
  worst[2] = engine::cuda::check_norm_pool(device, {.images = 1, .height = 16, .width = 11, .channels = 64}, 1);
  const std::int64_t counts[] = {5000, 3};
  worst[3] = engine::cuda::check_updates(device, counts, 1);
  worst[4] = engine::cuda::check_norm_segments(device, {.rows = 200, .multiprocessors = 4}, {40, 8, 32}, 1);
  for (const engine::cuda::Worst& each : worst) {
    if (each.share > 1.0) std::printf("wrong: %s\n", each.where.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "kernels") == 0) return run_kernels();
  if (argc == 2) static_cast<void>(run_planted(argv[1], {}));
  return argc == 2 ? 0 : 2;
}
