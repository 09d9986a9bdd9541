// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CUDA devices behind runtime/stream.h. cudart is linked statically and finds the driver at run time, so the program
// starts on machines without one.
#include <cuda_runtime.h>

#include "core/error.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/device_buffer.h"
#include "runtime/cuda/pinned_buffer.h"
#include "runtime/cuda/stream.h"
#include "runtime/stream.h"

namespace roentgen::runtime {
namespace cuda {
namespace {
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
