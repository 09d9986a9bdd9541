// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/cuda/stream.h"

#include "core/error.h"
#include "core/log.h"
#include "runtime/copy_room.h"
#include "runtime/cuda/check.h"

namespace roentgen::runtime::cuda {
namespace {
template <typename Ours, typename Interface>
Ours& as_ours(Interface& object, std::string_view what) {
  auto* ours = dynamic_cast<Ours*>(&object);
  if (ours != nullptr) return *ours;
  throw DeviceError(error_text("runtime.cuda", what, "an object of a CUDA device", "an object of another device",
                               "reporting this bug"));
}
}  // namespace

StreamHandle make_stream_handle() {
  cudaStream_t handle = nullptr;
  check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "a new stream");
  return StreamHandle(handle);
}

CudaEvent::CudaEvent() {
  check(cudaGetDevice(&device_), "the current device");
  cudaEvent_t handle = nullptr;
  check(cudaEventCreateWithFlags(&handle, cudaEventBlockingSync | cudaEventDisableTiming), "a new event");
  handle_.reset(handle);
}

bool CudaEvent::is_reached() const {
  use_device(device_);
  const cudaError_t status = cudaEventQuery(handle_.get());
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check(status, "work before an event");
  return true;
}

void CudaEvent::wait() const {
  use_device(device_);
  check(cudaEventSynchronize(handle_.get()), "work before an event");
}

CudaStream::CudaStream(int device) : device_(device), handle_(make_stream_handle()) {}

CudaStream::~CudaStream() {
  const cudaError_t status = cudaStreamSynchronize(handle_.get());
  if (status != cudaSuccess) log::error("[runtime.cuda] work of a CUDA stream failed: " + words_of(status));
}

void CudaStream::upload(std::span<const std::byte> from, DeviceBuffer& to, std::size_t at) {
  require_room(to.size_bytes(), at, from.size());
  if (from.empty()) return;
  check(cudaMemcpyAsync(to.address() + at, from.data(), from.size(), cudaMemcpyHostToDevice, handle_.get()), "upload");
}

void CudaStream::download(const DeviceBuffer& from, std::size_t at, std::span<std::byte> to) {
  require_room(from.size_bytes(), at, to.size());
  if (to.empty()) return;
  check(cudaMemcpyAsync(to.data(), from.address() + at, to.size(), cudaMemcpyDeviceToHost, handle_.get()), "download");
}

void CudaStream::record(Event& event) {
  check(cudaEventRecord(as_ours<CudaEvent>(event, "event").handle(), handle_.get()), "recording an event");
}

void CudaStream::wait_for(const Event& event) {
  check(cudaStreamWaitEvent(handle_.get(), as_ours<const CudaEvent>(event, "event").handle(), 0),
        "waiting for an event");
}

void CudaStream::synchronize() {
  record(end_);
  end_.wait();
}

cudaStream_t CudaStream::launch_handle() {
  use_device(device_);
  return handle_.get();
}

CudaStream& as_cuda(Stream& stream) { return as_ours<CudaStream>(stream, "stream"); }

}  // namespace roentgen::runtime::cuda
