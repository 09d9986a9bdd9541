// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Program checks <name>: runs a planted bug (planted.h), or with "kernels" the kernels of engine/cuda. It is compiled
// with a sanitizer, which reports what it finds.
#include <cstdio>
#include <cstring>
#include <string>

#include "engine/cuda/kernel_checks_testing.h"
#include "tests/emulated_cuda/planted.h"

namespace {

using namespace roentgen;
using namespace roentgen::emulated;

int run_kernels() {
  EmulatedDevice device;
  int status = 0;
  for (const engine::cuda::KernelCheck& each : engine::cuda::kKernelChecks) {
    const engine::cuda::Worst worst = each.check(device);
    if (worst.share <= 1.0) continue;
    std::printf("wrong: %s: %s\n", std::string(each.name).c_str(), worst.where.c_str());
    status = 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "kernels") == 0) return run_kernels();
  if (argc == 2) static_cast<void>(run_planted(argv[1], {}));
  return argc == 2 ? 0 : 2;
}
