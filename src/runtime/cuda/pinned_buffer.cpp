// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/cuda/pinned_buffer.h"

#include <cstring>
#include <string>

#include "runtime/cuda/check.h"

namespace roentgen::runtime::cuda {

CudaPinnedBuffer::CudaPinnedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "pinned buffer of " + std::to_string(bytes) + " bytes");
  memory_.reset(static_cast<std::byte*>(memory));
  std::memset(memory, 0, bytes);
}

}  // namespace roentgen::runtime::cuda
