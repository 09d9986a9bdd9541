// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Page-locked host memory, which a CUDA device copies from and to while the host works on.
#pragma once

#include <cuda_runtime.h>

#include "core/unique_handle.h"
#include "runtime/stream.h"

namespace roentgen::runtime::cuda {

/// cudaHostAlloc's memory, whole pages, known to all devices.
class CudaPinnedBuffer final : public PinnedBuffer {
 public:
  explicit CudaPinnedBuffer(std::size_t bytes);
  [[nodiscard]] std::span<std::byte> bytes() const override { return {memory_.get(), size_}; }

 private:
  UniqueHandle<std::byte, cudaFreeHost> memory_;
  std::size_t size_ = 0;
};

}  // namespace roentgen::runtime::cuda
