// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CUDA's streams and events behind the interfaces of runtime/stream.h.
#pragma once

#include <cuda_runtime.h>

#include "core/unique_handle.h"
#include "runtime/stream.h"

namespace roentgen::runtime::cuda {

using StreamHandle = UniqueHandle<CUstream_st, cudaStreamDestroy>;
using EventHandle = UniqueHandle<CUevent_st, cudaEventDestroy>;

/// A new stream of the current device that does not wait for the default stream.
[[nodiscard]] StreamHandle make_stream_handle();

class CudaEvent final : public Event {
 public:
  /// Creates an event of the current device.
  CudaEvent();
  [[nodiscard]] bool is_reached() const override;
  void wait() const override;
  [[nodiscard]] cudaEvent_t handle() const { return handle_.get(); }

 private:
  EventHandle handle_;
};

class CudaStream final : public Stream {
 public:
  /// Creates a stream of the current device, whose index is `device`.
  explicit CudaStream(int device);
  /// Waits for what is queued.
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  void upload(std::span<const std::byte> from, DeviceBuffer& to, std::size_t at) override;
  void download(const DeviceBuffer& from, std::size_t at, std::span<std::byte> to) override;
  void record(Event& event) override;
  void wait_for(const Event& event) override;
  void synchronize() override;
  /// For kernel launches: makes its device the calling thread's current one and gives the handle.
  [[nodiscard]] cudaStream_t launch_handle();

 private:
  int device_;
  StreamHandle handle_;
  /// synchronize() waits for it, since cudaStreamSynchronize spins.
  CudaEvent end_;
};

/// The CUDA stream behind the interface; DeviceError when it is another device's.
[[nodiscard]] CudaStream& as_cuda(Stream& stream);

}  // namespace roentgen::runtime::cuda
