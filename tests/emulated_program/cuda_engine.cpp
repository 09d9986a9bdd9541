// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The engine "cuda" of the program under test, on emulated GPUs. ROENTGEN_EMULATED_CARDS sets their number; default:
// one. If CUDA_VISIBLE_DEVICES lists MIG instances, the only GPU is the first of them, as with the real driver.
// ROENTGEN_EMULATED_MEMORY names a folder in which each GPU writes a file "cuda-INDEX" with the number of bytes
// that were allocated on it.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>

#include "core/comma_list.h"
#include "engine/cuda/cards.h"
#include "engine/engine_list.h"
#include "runtime/stream.h"
#include "tests/emulated_engine/emulated_engine.h"
#include "tests/emulated_program/running_averages.h"

namespace roentgen {
namespace runtime {

CudaInventory find_cuda_devices() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (const std::string_view first = comma_parts(visible == nullptr ? "" : visible).front();
      first.starts_with("MIG-")) {
    return {.devices = {{.name = "emulated instance", .compute_capability = 90, .bus = std::string(first)}},
            .why_none = ""};
  }
  const char* const text = std::getenv("ROENTGEN_EMULATED_CARDS");
  const int count = text == nullptr ? 1 : std::atoi(text);
  CudaInventory inventory{.devices = {}, .why_none = count > 0 ? "" : "none is emulated"};
  for (int index = 0; index < count; ++index) {
    inventory.devices.push_back({.index = index,
                                 .name = "emulated card",
                                 .compute_capability = 90,
                                 .bus = fmt::format("FFFF:{:02X}:00.0", index)});
  }
  return inventory;
}

std::unique_ptr<Device> make_cuda_device(int index) {
  static_cast<void>(pick_cuda_device(find_cuda_devices(), index));
  return std::make_unique<emulated::EmulatedDevice>(emulated::DeviceOptions{});
}

}  // namespace runtime

namespace engine {
namespace {

/// An emulated device that counts the bytes of all its buffers, also of those that are gone.
class CountingDevice final : public runtime::Device {
 public:
  explicit CountingDevice(std::atomic<std::size_t>& bytes) : bytes_(bytes) {}
  [[nodiscard]] std::string_view name() const override { return device_.name(); }
  [[nodiscard]] std::unique_ptr<runtime::DeviceBuffer> make_device_buffer(std::size_t bytes) override {
    e2e::require_no_average("a device buffer");
    bytes_ += bytes;
    return device_.make_device_buffer(bytes);
  }
  [[nodiscard]] std::unique_ptr<runtime::PinnedBuffer> make_pinned_buffer(std::size_t bytes) override {
    e2e::require_no_average("a pinned buffer");
    return device_.make_pinned_buffer(bytes);
  }
  [[nodiscard]] std::unique_ptr<runtime::Stream> make_stream() override { return device_.make_stream(); }
  [[nodiscard]] std::unique_ptr<runtime::Event> make_event() override { return device_.make_event(); }
  [[nodiscard]] std::size_t free_bytes() const override { return device_.free_bytes(); }

 private:
  emulated::EmulatedDevice device_;
  std::atomic<std::size_t>& bytes_;
};

/// Recorder that finds graphs recorded while averages run.
class CheckedGraphs final : public cuda::GraphRecorder {
 public:
  void begin(runtime::Stream& stream) override { recorder_->begin(stream); }
  [[nodiscard]] std::unique_ptr<cuda::StepGraph> end(runtime::Stream& stream) override {
    e2e::require_no_average("a graph");
    return recorder_->end(stream);
  }

 private:
  std::unique_ptr<cuda::GraphRecorder> recorder_ = emulated::make_emulated_graphs();
};

class EmulatedCard final : public emulated::EmulatedEngine {
 public:
  explicit EmulatedCard(runtime::CudaDeviceInfo card) : card_(std::move(card)) {}
  ~EmulatedCard() override {
    const char* const folder = std::getenv("ROENTGEN_EMULATED_MEMORY");
    if (folder != nullptr) std::ofstream(fmt::format("{}/cuda-{}", folder, card_.index)) << bytes_;
  }
  EmulatedCard(const EmulatedCard&) = delete;
  EmulatedCard& operator=(const EmulatedCard&) = delete;
  [[nodiscard]] std::string description() const override { return fmt::format("cuda:{} {}", card_.index, card_.name); }
  [[nodiscard]] std::string device_id() const override { return card_.bus; }
  [[nodiscard]] std::string why_not_auto() const override { return "it is emulated"; }

 private:
  [[nodiscard]] std::unique_ptr<runtime::Device> make_device() override {
    return std::make_unique<CountingDevice>(bytes_);
  }
  [[nodiscard]] std::unique_ptr<cuda::GraphRecorder> make_graphs() override {
    return std::make_unique<CheckedGraphs>();
  }

  runtime::CudaDeviceInfo card_;
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(int device) {
  return std::make_unique<EmulatedCard>(runtime::pick_cuda_device(runtime::find_cuda_devices(), device));
}

std::unique_ptr<Engine> make_cuda_planner(const std::string& card) {
  return std::make_unique<EmulatedCard>(runtime::CudaDeviceInfo{.name = cuda::find_card(card).name});
}

}  // namespace engine
}  // namespace roentgen
