// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/cuda/check.h"

#include "core/error.h"

namespace roentgen::runtime::cuda {

std::string words_of(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  // Clears the error. Errors that leave the device usable (out of memory, bad argument) stay pending until they are
  // read.
  static_cast<void>(cudaGetLastError());
  throw DeviceError(
      error_text("runtime.cuda", what, "a CUDA call without error", words_of(status), "again, or --device cpu"));
}

void use_device(int index) { check(cudaSetDevice(index), "device cuda:" + std::to_string(index)); }

}  // namespace roentgen::runtime::cuda
