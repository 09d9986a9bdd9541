// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Device, Stream, Event and the two kinds of memory, in one interface for the CPU and CUDA. Batch slots, uploads and
// overlap use it; kernels belong to the engines. The device is chosen at start-up. Virtual calls happen a few times a
// step and cost nothing measurable.
//
// Path of a batch: workers fill a PinnedBuffer (the slot). The upload stream copies it to a DeviceBuffer and records an
// Event. The compute stream waits for that event and reads; the host waits for it before workers may refill the slot.
// On the CPU a copy is done when the call returns.
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

/// Copies between a device's memory and the host's, for collectives that the host carries out. A copy is done when the
/// call returns, and does not wait for the device's streams. Thread-safe for ranges that do not overlap. Throws
/// DeviceError when the device fails.
class DeviceCopies {
 public:
  virtual ~DeviceCopies() = default;
  /// Copies the device's bytes at `from` to `to`.
  virtual void read(const std::byte* from, std::span<std::byte> to) = 0;
  /// Copies `from` to the device's bytes at `to`.
  virtual void write(std::span<const std::byte> from, std::byte* to) = 0;
};

/// Elements of a DeviceBuffer, for kernels and collectives. A plain value; the buffer outlives it.
template <typename T>
struct DeviceSpan {
  T* address = nullptr;            ///< address on the device
  std::size_t count = 0;           ///< elements
  DeviceCopies* copies = nullptr;  ///< null: the host may read and write there, memory of the CPU device

  /// The elements as the host sees them. Memory of the CPU device alone.
  [[nodiscard]] std::span<T> host() const {
    RG_ASSERT(copies == nullptr);
    return {address, count};
  }
};

/// Elements of a range in host memory, which outlives it.
template <typename Range>
[[nodiscard]] auto host_span(Range&& range) {
  const std::span all(range);
  return DeviceSpan<typename decltype(all)::element_type>{.address = all.data(), .count = all.size()};
}

/// Zeroed memory that kernels of one device work on. Move it by its unique_ptr. Thread-compatible.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  /// Address for kernels, aligned to 64 bytes at least. Only the CPU's may be read by the host.
  [[nodiscard]] virtual std::byte* address() const = 0;
  [[nodiscard]] virtual std::size_t size_bytes() const = 0;
  /// Copies of this memory for the host. Null: it is the host's own, of the CPU device.
  [[nodiscard]] virtual DeviceCopies* copies() const = 0;
};

/// Zeroed host memory that the device can copy from and to while the host does other work (page-locked under CUDA). The
/// host writes it like any other memory, from any thread. Thread-compatible.
class PinnedBuffer {
 public:
  virtual ~PinnedBuffer() = default;
  /// 64-byte aligned.
  [[nodiscard]] virtual std::span<std::byte> bytes() const = 0;
};

/// A point in a stream's work. It can be recorded repeatedly; before the first time it counts as reached.
/// Thread-compatible.
class Event {
 public:
  virtual ~Event() = default;
  /// True when the work before the last record() is done. DeviceError when that work failed.
  [[nodiscard]] virtual bool is_reached() const = 0;
  /// Blocks the calling thread until then, without spinning. DeviceError when that work failed.
  virtual void wait() const = 0;
};

/// A queue of work on one device, done in order. One thread. Destruction waits for queued work.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Queues a copy of all bytes of `from` to `to`, starting at byte `at`. Both must live, and `from` stay unchanged,
  /// until the copy is done. ShapeError when they do not fit; DeviceError when the device refuses. The host waits if
  /// its memory is not pinned.
  virtual void upload(std::span<const std::byte> from, DeviceBuffer& to, std::size_t at) = 0;
  /// Queues a copy from byte `at` of `from` to all bytes of `to`, like upload().
  virtual void download(const DeviceBuffer& from, std::size_t at, std::span<std::byte> to) = 0;
  /// upload() of pinned memory to the first bytes of `to`.
  void upload(const PinnedBuffer& from, DeviceBuffer& to) { upload(from.bytes(), to, 0); }
  /// download() of the first bytes of `from` to pinned memory.
  void download(const DeviceBuffer& from, PinnedBuffer& to) { download(from, 0, to.bytes()); }
  /// Marks the end of the work queued so far. The event must be of the same device.
  virtual void record(Event& event) = 0;
  /// Work queued from now on starts after the event is reached. The calling thread does not wait.
  virtual void wait_for(const Event& event) = 0;
  /// Blocks the calling thread until all queued work is done. DeviceError when it failed.
  virtual void synchronize() = 0;
};

/// One device, which creates memory, streams and events. All of them must be destroyed before it. Thread-compatible.
/// All functions here may allocate, so call none of them in a step.
class Device {
 public:
  virtual ~Device() = default;
  /// "cpu", "cuda:0".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// DeviceError naming the size when there is not that much memory. `bytes` may be 0.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> make_device_buffer(std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<PinnedBuffer> make_pinned_buffer(std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  /// Free bytes for make_device_buffer(); the largest number where that is unknown.
  [[nodiscard]] virtual std::size_t free_bytes() const { return std::numeric_limits<std::size_t>::max(); }
};

/// Throws DeviceError naming both numbers and a remedy when a device has fewer than `bytes` free.
/// @param device Device::name()
/// @param what purpose of the memory: "the plan: activations 10.0, ..."
void require_device_memory(std::string_view device, std::string_view what, std::size_t bytes, std::size_t free_bytes);

/// The host itself: memory is AlignedBuffer, work is done when the call returns.
[[nodiscard]] std::unique_ptr<Device> make_cpu_device();
/// An event that is always reached, because the host's own work is done at once. Thread-safe.
[[nodiscard]] const Event& reached_event();

/// Properties of a CUDA device.
struct CudaDeviceInfo {
  /// Index in CUDA's own order.
  int index = 0;
  std::string name;
  /// 90 for compute capability 9.0.
  int compute_capability = 0;
  std::size_t memory_bytes = 0;
  /// Its place on the bus, which tells devices of a host apart whatever CUDA_VISIBLE_DEVICES says: "0000:3B:00.0".
  std::string bus{};
};
/// Lowest compute capability that the kernels are compiled for.
inline constexpr int kLeastComputeCapability = 70;
/// Least compute capability that multiplies TF32.
inline constexpr int kTf32ComputeCapability = 80;
/// Refuses a device below a compute capability. DeviceError.
/// @param least as CudaDeviceInfo::compute_capability
/// @param what needs it: "device cuda:0"
void require_compute_capability(const CudaDeviceInfo& device, int least, std::string_view what,
                                std::string_view remedy);
/// The CUDA devices of this machine, or the reason for their absence.
struct CudaInventory {
  std::vector<CudaDeviceInfo> devices;
  /// Empty when there are devices: "built without the CUDA toolkit", or the driver's own words.
  std::string why_none;
};
/// Defined in runtime/cuda or, without the toolkit, in runtime/cuda_absent.cpp. Never throws for want of a device.
[[nodiscard]] CudaInventory find_cuda_devices();
/// Reason why CUDA finds no devices, on one line. Versions as CUDA's: 12040 is 12.4.
/// @param words CUDA's own error text
/// @param driver newest CUDA version that the driver knows; 0: no driver
/// @param runtime CUDA version that this program was built with
[[nodiscard]] std::string why_no_cuda_devices(std::string_view words, int driver, int runtime);
/// The device of that index. Throws DeviceError with the reason for its absence, the number of devices, or its age.
[[nodiscard]] CudaDeviceInfo pick_cuda_device(const CudaInventory& inventory, int index);
/// Creates the device with this CudaDeviceInfo::index of find_cuda_devices(). Throws as pick_cuda_device().
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(int index);

}  // namespace roentgen::runtime
