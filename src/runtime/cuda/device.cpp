// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CUDA devices behind runtime/stream.h. cudart is linked statically and finds the driver at run time, so the program
// starts on machines without one.
#include <cuda_runtime.h>
#include <fmt/format.h>

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

/// Copies on a separate stream and waits for each copy.
class CudaCopies final : public DeviceCopies {
 public:
  /// Creates the stream on the current device.
  explicit CudaCopies(int index) : index_(index), stream_(make_stream_handle()) {}
  void read(const std::byte* from, std::span<std::byte> to) override { copy(from, to.data(), to.size()); }
  void write(std::span<const std::byte> from, std::byte* to) override { copy(from.data(), to, from.size()); }

 private:
  void copy(const std::byte* from, std::byte* to, std::size_t bytes) const {
    use_device(index_);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()), "a copy for a collective");
    check(cudaStreamSynchronize(stream_.get()), "a copy for a collective");
  }

  int index_;
  StreamHandle stream_;
};

// Number of free bytes on the current device.
std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "free memory");
  return free;
}

/// Device memory from cudaMalloc, aligned to 256 bytes. Freeing it waits for the device's work, so never free it inside
/// a step.
class CudaDeviceBuffer final : public DeviceBuffer {
 public:
  /// Allocates on the current device and waits until `stream` has zeroed the memory.
  CudaDeviceBuffer(std::size_t bytes, cudaStream_t stream, DeviceCopies& copies) : copies_(copies), size_(bytes) {
    if (bytes == 0) return;
    void* memory = nullptr;
    const std::string what = "a device buffer of " + std::to_string(bytes) + " bytes";
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) require_device_memory("the CUDA device", what, bytes, free_memory());
    check(status, what);
    memory_.reset(static_cast<std::byte*>(memory));
    check(cudaMemsetAsync(memory, 0, bytes, stream), "zeroing a device buffer");
    check(cudaStreamSynchronize(stream), "zeroing a device buffer");
  }
  [[nodiscard]] std::byte* address() const override { return memory_.get(); }
  [[nodiscard]] std::size_t size_bytes() const override { return size_; }
  [[nodiscard]] DeviceCopies* copies() const override { return &copies_; }

 private:
  DeviceCopies& copies_;
  UniqueHandle<std::byte, cudaFree> memory_;
  std::size_t size_ = 0;
};

/// Page-locked host memory from cudaHostAlloc, usable by all devices. Devices can copy from and to it while the host
/// continues to work.
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
    copies_ = std::make_unique<CudaCopies>(index_);
  }
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> make_device_buffer(std::size_t bytes) override {
    use_device(index_);
    return std::make_unique<CudaDeviceBuffer>(bytes, setup_.get(), *copies_);
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
  [[nodiscard]] std::size_t free_bytes() const override {
    use_device(index_);
    return free_memory();
  }

 private:
  int index_;
  std::string name_;
  /// Stream that zeroes new memory.
  StreamHandle setup_;
  std::unique_ptr<CudaCopies> copies_;
};
}  // namespace
}  // namespace cuda

CudaInventory find_cuda_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    int driver = 0, runtime = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    return {.devices = {}, .why_none = why_no_cuda_devices(cuda::words_of(status), driver, runtime)};
  }
  CudaInventory inventory;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, index), "device cuda:" + std::to_string(index));
    inventory.devices.push_back({.index = index,
                                 .name = static_cast<const char*>(properties.name),
                                 .compute_capability = 10 * properties.major + properties.minor,
                                 .memory_bytes = properties.totalGlobalMem,
                                 .bus = fmt::format("{:04X}:{:02X}:{:02X}.0", properties.pciDomainID,
                                                    properties.pciBusID, properties.pciDeviceID)});
  }
  if (inventory.devices.empty()) inventory.why_none = "no device";
  return inventory;
}

std::unique_ptr<Device> make_cuda_device(int index) {
  return std::make_unique<cuda::CudaDevice>(pick_cuda_device(find_cuda_devices(), index).index);
}

}  // namespace roentgen::runtime
