// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implements the stream and event interfaces of runtime/stream.h with CUDA.
#pragma once

#include <cuda_runtime.h>

#include "core/unique_handle.h"
#include "runtime/stream.h"

namespace roentgen::runtime::cuda {

using StreamHandle = UniqueHandle<CUstream_st, cudaStreamDestroy>;
using EventHandle = UniqueHandle<CUevent_st, cudaEventDestroy>;

/// Creates a stream of the current device that does not synchronise with the default stream.
[[nodiscard]] StreamHandle make_stream_handle();

class CudaEvent final : public Event {
 public:
  /// Creates an event on the current device. is_reached() and wait() make this device the current one of the calling
  /// thread. Otherwise, if they are the first CUDA calls of a thread, CUDA creates a context on device 0.
  CudaEvent();
  [[nodiscard]] bool is_reached() const override;
  void wait() const override;
  [[nodiscard]] cudaEvent_t handle() const { return handle_.get(); }

 private:
  int device_ = 0;
  EventHandle handle_;
};

class CudaStream final : public Stream {
 public:
  /// Creates a stream on the current device, whose index is `device`.
  explicit CudaStream(int device);
  /// Waits until the queued work is finished.
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  void upload(std::span<const std::byte> from, DeviceBuffer& to, std::size_t at) override;
  void download(const DeviceBuffer& from, std::size_t at, std::span<std::byte> to) override;
  void record(Event& event) override;
  void wait_for(const Event& event) override;
  void synchronize() override;
  /// Returns the handle for a kernel launch, after making its device the current device of the calling thread.
  [[nodiscard]] cudaStream_t launch_handle();

 private:
  int device_;
  StreamHandle handle_;
  /// Event that synchronize() waits for, because cudaStreamSynchronize would spin.
  CudaEvent end_;
};

/// Returns the CUDA stream behind the interface. Throws DeviceError if it belongs to another kind of device.
[[nodiscard]] CudaStream& as_cuda(Stream& stream);

}  // namespace roentgen::runtime::cuda
