// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CUDA devices behind runtime/stream.h. cudart is linked statically and finds the driver at run time, so the program
// starts on machines without one.
#include <cuda_runtime.h>

#include <cstring>
#include <string>

#include "core/error.h"
#include "core/unique_handle.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/stream.h"
#include "runtime/stream.h"

namespace roentgen::runtime {
namespace cuda {
namespace {

/// cudaMalloc's memory: 256-byte aligned. Freeing waits for the device's work, so never inside a step.
class CudaDeviceBuffer final : public DeviceBuffer {
 public:
  /// On the current device; zeroed by `stream`, which is waited for.
  CudaDeviceBuffer(std::size_t bytes, cudaStream_t stream) : size_(bytes) {
    if (bytes == 0) return;
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "device buffer of " + std::to_string(bytes) + " bytes");
    memory_.reset(static_cast<std::byte*>(memory));
    check(cudaMemsetAsync(memory, 0, bytes, stream), "zeroing a device buffer");
    check(cudaStreamSynchronize(stream), "zeroing a device buffer");
  }
  [[nodiscard]] std::byte* address() const override { return memory_.get(); }
  [[nodiscard]] std::size_t size_bytes() const override { return size_; }

 private:
  UniqueHandle<std::byte, cudaFree> memory_;
  std::size_t size_ = 0;
};

/// cudaHostAlloc's memory, whole pages, known to all devices: page-locked, so that a device copies from and to it while
/// the host works on.
class CudaPinnedBuffer final : public PinnedBuffer {
 public:
  explicit CudaPinnedBuffer(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "pinned buffer of " + std::to_string(bytes) + " bytes");
    memory_.reset(static_cast<std::byte*>(memory));
    std::memset(memory, 0, bytes);
  }
  [[nodiscard]] std::span<std::byte> bytes() const override { return {memory_.get(), size_}; }

 private:
  UniqueHandle<std::byte, cudaFreeHost> memory_;
  std::size_t size_ = 0;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index), name_("cuda:" + std::to_string(index)) {
    use_device(index_);
    setup_ = make_stream_handle();
  }
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> make_device_buffer(std::size_t bytes) override {
    use_device(index_);
    return std::make_unique<CudaDeviceBuffer>(bytes, setup_.get());
  }
  [[nodiscard]] std::unique_ptr<PinnedBuffer> make_pinned_buffer(std::size_t bytes) override {
    use_device(index_);
    return std::make_unique<CudaPinnedBuffer>(bytes);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    use_device(index_);
    return std::make_unique<CudaStream>(index_);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    use_device(index_);
    return std::make_unique<CudaEvent>();
  }

 private:
  int index_;
  std::string name_;
  /// Zeroes new memory.
  StreamHandle setup_;
};
}  // namespace
}  // namespace cuda

CudaInventory find_cuda_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {.devices = {}, .why_none = cuda::words_of(status)};
  }
  CudaInventory inventory;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, index), "device cuda:" + std::to_string(index));
    inventory.devices.push_back({.index = index,
                                 .name = static_cast<const char*>(properties.name),
                                 .compute_capability = 10 * properties.major + properties.minor,
                                 .memory_bytes = properties.totalGlobalMem});
  }
  if (inventory.devices.empty()) inventory.why_none = "no device";
  return inventory;
}

std::unique_ptr<Device> make_cuda_device(int index) {
  const CudaInventory inventory = find_cuda_devices();
  const auto count = static_cast<int>(inventory.devices.size());
  if (count == 0) {
    throw DeviceError(error_text("runtime.cuda", "device cuda:" + std::to_string(index), "a CUDA device",
                                 "none: " + inventory.why_none, "the engine cpu"));
  }
  if (index < 0 || index >= count) {
    throw DeviceError(error_text("runtime.cuda", "device cuda:" + std::to_string(index),
                                 "an index below " + std::to_string(count), std::to_string(index)));
  }
  return std::make_unique<cuda::CudaDevice>(index);
}

}  // namespace roentgen::runtime
