// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Memory of a CUDA device.
#pragma once

#include <cuda_runtime.h>

#include "core/unique_handle.h"
#include "runtime/stream.h"

namespace roentgen::runtime::cuda {

/// cudaMalloc's memory: 256-byte aligned. Freeing waits for the device's work, so never inside a step.
class CudaDeviceBuffer final : public DeviceBuffer {
 public:
  /// On the current device; zeroed by `stream`, which is waited for.
  CudaDeviceBuffer(std::size_t bytes, cudaStream_t stream);
  [[nodiscard]] std::byte* address() const override { return memory_.get(); }
  [[nodiscard]] std::size_t size_bytes() const override { return size_; }

 private:
  UniqueHandle<std::byte, cudaFree> memory_;
  std::size_t size_ = 0;
};

}  // namespace roentgen::runtime::cuda
