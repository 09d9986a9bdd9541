// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The host as a Device: every call has done its work when it returns, so events are always reached.
#include <cstring>

#include "runtime/aligned_buffer.h"
#include "runtime/copy_room.h"
#include "runtime/stream.h"

namespace roentgen::runtime {
namespace {

class CpuDeviceBuffer final : public DeviceBuffer {
 public:
  explicit CpuDeviceBuffer(std::size_t bytes) : memory_(bytes), size_(bytes) {}
  [[nodiscard]] std::byte* address() const override { return memory_.data(); }
  [[nodiscard]] std::size_t size_bytes() const override { return size_; }

 private:
  AlignedBuffer memory_;
  std::size_t size_;
};

class CpuPinnedBuffer final : public PinnedBuffer {
 public:
  explicit CpuPinnedBuffer(std::size_t bytes) : memory_(bytes), size_(bytes) {}
  [[nodiscard]] std::span<std::byte> bytes() const override { return {memory_.data(), size_}; }

 private:
  AlignedBuffer memory_;
  std::size_t size_;
};

class CpuEvent final : public Event {
 public:
  [[nodiscard]] bool is_reached() const override { return true; }
  void wait() const override {}
};

class CpuStream final : public Stream {
 public:
  void upload(const PinnedBuffer& from, DeviceBuffer& to) override {
    const std::span<const std::byte> bytes = from.bytes();
    require_room(to.size_bytes(), bytes.size());
    if (!bytes.empty()) std::memcpy(to.address(), bytes.data(), bytes.size());
  }
  void download(const DeviceBuffer& from, PinnedBuffer& to) override {
    const std::span<std::byte> bytes = to.bytes();
    require_room(from.size_bytes(), bytes.size());
    if (!bytes.empty()) std::memcpy(bytes.data(), from.address(), bytes.size());
  }
  void record(Event&) override {}
  void wait_for(const Event&) override {}
  void synchronize() override {}
};

class CpuDevice final : public Device {
 public:
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> make_device_buffer(std::size_t bytes) override {
    return std::make_unique<CpuDeviceBuffer>(bytes);
  }
  [[nodiscard]] std::unique_ptr<PinnedBuffer> make_pinned_buffer(std::size_t bytes) override {
    return std::make_unique<CpuPinnedBuffer>(bytes);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return std::make_unique<CpuStream>(); }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return std::make_unique<CpuEvent>(); }
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace roentgen::runtime
