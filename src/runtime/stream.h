// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Common interface of CPU and CUDA for devices, streams, events and the two kinds of memory. Batch slots, uploads and
// overlap use it; kernels belong to the engines. The device is chosen at start-up. Each step makes only a few virtual
// calls, so their cost is not measurable.
//
// Path of a batch: workers fill a PinnedBuffer (the slot). The upload stream copies it to a DeviceBuffer and records an
// Event. The compute stream waits for that event before it reads; the host waits for it before workers may refill the
// slot. On the CPU a copy is done when the call returns.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace roentgen::runtime {

/// Copies between device memory and host memory, for collectives that run on the host. A call returns when its copy is
/// done; it does not wait for the device's streams. Thread-safe for ranges that do not overlap. Functions throw
/// DeviceError if the device fails.
class DeviceCopies {
 public:
  virtual ~DeviceCopies() = default;
  /// Copies device memory at `from` to host memory.
  virtual void read(const std::byte* from, std::span<std::byte> to) = 0;
  /// Copies host memory to device memory at `to`.
  virtual void write(std::span<const std::byte> from, std::byte* to) = 0;
};

/// Elements of a DeviceBuffer, for kernels and collectives. Does not own them: the buffer must outlive it.
template <typename T>
struct DeviceSpan {
  T* address = nullptr;   ///< address on the device
  std::size_t count = 0;  ///< number of elements
  /// Copies this memory for the host; null: CPU memory, which the host accesses directly
  DeviceCopies* copies = nullptr;

  /// Returns the elements for direct access by the host. Only for memory of the CPU device.
  [[nodiscard]] std::span<T> host() const {
    RG_ASSERT(copies == nullptr);
    return {address, count};
  }
};

/// Makes a DeviceSpan of a range in host memory, which must outlive it.
template <typename Range>
[[nodiscard]] auto host_span(Range&& range) {
  const std::span all(range);
  return DeviceSpan<typename decltype(all)::element_type>{.address = all.data(), .count = all.size()};
}

/// Memory of one device for its kernels, zero at first. Move it by its unique_ptr. Thread-compatible.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  /// Address for kernels, aligned to at least 64 bytes. The host may access it only on the CPU device.
  [[nodiscard]] virtual std::byte* address() const = 0;
  [[nodiscard]] virtual std::size_t size_bytes() const = 0;
  /// Object that copies this memory for the host; null for the CPU device, whose memory the host accesses directly.
  [[nodiscard]] virtual DeviceCopies* copies() const = 0;
};

/// Host memory, zero at first, that the device can copy while the host does other work (page-locked under CUDA). The
/// host may write it from any thread. Thread-compatible.
class PinnedBuffer {
 public:
  virtual ~PinnedBuffer() = default;
  /// All bytes of the memory, 64-byte aligned.
  [[nodiscard]] virtual std::span<std::byte> bytes() const = 0;
};

/// A point in the work of a stream, like a CUDA event. It can be recorded repeatedly and counts as reached before the
/// first record(). Thread-compatible.
class Event {
 public:
  virtual ~Event() = default;
  /// True if the work queued before the last record() is done. Throws DeviceError if that work failed.
  [[nodiscard]] virtual bool is_reached() const = 0;
  /// Blocks the calling thread, without spinning, until the work before the last record() is done. Throws DeviceError
  /// if that work failed.
  virtual void wait() const = 0;
};

/// A queue of work on one device, done in order, like a CUDA stream.
/// Not thread-safe. Its destructor waits for queued work.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Queues a copy of all bytes of `from` to `to`, starting at byte `at` of `to`. Both must live, and `from` must not
  /// change, until the copy is done. If `from` is not pinned, the call waits for the copy. Throws ShapeError if `from`
  /// does not fit, DeviceError if the device fails.
  virtual void upload(std::span<const std::byte> from, DeviceBuffer& to, std::size_t at) = 0;
  /// Queues a copy from byte `at` of `from` to all bytes of `to`, like upload().
  virtual void download(const DeviceBuffer& from, std::size_t at, std::span<std::byte> to) = 0;
  /// Queues a copy of pinned memory to the first bytes of `to`.
  void upload(const PinnedBuffer& from, DeviceBuffer& to) { upload(from.bytes(), to, 0); }
  /// Queues a copy of the first bytes of `from` to pinned memory.
  void download(const DeviceBuffer& from, PinnedBuffer& to) { download(from, 0, to.bytes()); }
  /// Records the event at the end of the work queued so far. The event must belong to the same device.
  virtual void record(Event& event) = 0;
  /// Makes work that is queued from now on wait for the event. The calling thread does not wait.
  virtual void wait_for(const Event& event) = 0;
  /// Blocks the calling thread until all queued work is done. Throws DeviceError if it failed.
  virtual void synchronize() = 0;
};

/// A device, which creates memory, streams and events. All of them must be destroyed before it. All functions may
/// allocate, so do not call them during a step. Thread-compatible.
class Device {
 public:
  virtual ~Device() = default;
  /// Name of the device, such as "cpu" or "cuda:0".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Allocates `bytes` bytes, which may be 0, of device memory. Throws DeviceError, which names the size, if memory is
  /// lacking.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> make_device_buffer(std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<PinnedBuffer> make_pinned_buffer(std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  /// Bytes that make_device_buffer() can still allocate; the largest number if that is unknown.
  [[nodiscard]] virtual std::size_t free_bytes() const { return std::numeric_limits<std::size_t>::max(); }
};

/// Throws DeviceError, which names both numbers and a remedy, if `free_bytes` is less than `bytes`.
/// @param device Device::name()
/// @param what purpose of the memory, such as "the plan: activations 10.0, ..."
void require_device_memory(std::string_view device, std::string_view what, std::size_t bytes, std::size_t free_bytes);

/// Makes the device for the host's CPU: memory is AlignedBuffer, and work is done when the call returns.
[[nodiscard]] std::unique_ptr<Device> make_cpu_device();
/// Returns an event that is always reached, for work of the CPU, which is done when its call returns. Thread-safe.
[[nodiscard]] const Event& reached_event();

/// Properties of a CUDA device.
struct CudaDeviceInfo {
  /// Index in CUDA's own order.
  int index = 0;
  std::string name;
  /// Compute capability as 10 * major + minor: 90 for 9.0.
  int compute_capability = 0;
  std::size_t memory_bytes = 0;
  /// PCI bus address, such as "0000:3B:00.0". It identifies a device of a host independently of CUDA_VISIBLE_DEVICES.
  std::string bus{};
};
/// Lowest compute capability that the kernels are compiled for. CMakeLists.txt reads it from this line.
inline constexpr int kLeastComputeCapability = 80;
/// The CUDA devices of this machine, or the reason why there are none.
struct CudaInventory {
  std::vector<CudaDeviceInfo> devices;
  /// Reason why there are no devices, such as "built without the CUDA toolkit" or the driver's error text; empty if
  /// there are devices.
  std::string why_none;
};
/// Finds the CUDA devices; does not throw if there are none. Defined in runtime/cuda or, without the toolkit, in
/// runtime/cuda_absent.cpp.
[[nodiscard]] CudaInventory find_cuda_devices();
/// Returns one line that explains why CUDA finds no devices. Versions are coded like CUDA's: 12040 is 12.4.
/// @param words CUDA's own error text
/// @param driver newest CUDA version that the driver knows; 0: no driver
/// @param runtime CUDA version that this program was built with
[[nodiscard]] std::string why_no_cuda_devices(std::string_view words, int driver, int runtime);
/// Returns the device with this index. Throws DeviceError if there is none, with the reason or the number of devices,
/// or if the device is too old.
[[nodiscard]] CudaDeviceInfo pick_cuda_device(const CudaInventory& inventory, int index);
/// Creates the device with this CudaDeviceInfo::index of find_cuda_devices(). Throws as pick_cuda_device().
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(int index);

}  // namespace roentgen::runtime
