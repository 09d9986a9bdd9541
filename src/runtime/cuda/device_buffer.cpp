// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/cuda/device_buffer.h"

#include <string>

#include "runtime/cuda/check.h"

namespace roentgen::runtime::cuda {

CudaDeviceBuffer::CudaDeviceBuffer(std::size_t bytes, cudaStream_t stream) : size_(bytes) {
  if (bytes == 0) return;
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "device buffer of " + std::to_string(bytes) + " bytes");
  memory_.reset(static_cast<std::byte*>(memory));
  check(cudaMemsetAsync(memory, 0, bytes, stream), "zeroing a device buffer");
  check(cudaStreamSynchronize(stream), "zeroing a device buffer");
}

}  // namespace roentgen::runtime::cuda
