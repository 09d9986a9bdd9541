// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The host as a Device. Every call finishes its work before it returns, so events are always reached.
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
  [[nodiscard]] DeviceCopies* copies() const override { return nullptr; }

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
  void upload(std::span<const std::byte> from, DeviceBuffer& to, std::size_t at) override {
    require_room(to.size_bytes(), at, from.size());
    if (!from.empty()) std::memcpy(to.address() + at, from.data(), from.size());
  }
  void download(const DeviceBuffer& from, std::size_t at, std::span<std::byte> to) override {
    require_room(from.size_bytes(), at, to.size());
    if (!to.empty()) std::memcpy(to.data(), from.address() + at, to.size());
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

const Event& reached_event() {
  static const CpuEvent event;
  return event;
}

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace roentgen::runtime
