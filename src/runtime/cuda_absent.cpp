// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces runtime/cuda in a build without the CUDA toolkit; chosen by CMake.
#include "core/error.h"
#include "runtime/stream.h"

namespace roentgen::runtime {

CudaInventory find_cuda_devices() { return {.devices = {}, .why_none = "built without the CUDA toolkit"}; }

std::unique_ptr<Device> make_cuda_device(int) {
  throw DeviceError(error_text("runtime.cuda", "device cuda", "a program built with CUDA", "a program built without it",
                               "--device cpu, or building Roentgen where nvcc is installed"));
}

}  // namespace roentgen::runtime
