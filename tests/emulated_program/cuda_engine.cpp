// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The engine "cuda" of the program under test, on emulated cards. ROENTGEN_EMULATED_CARDS says how many; default: one.
// ROENTGEN_EMULATED_MEMORY names a folder where each process leaves a file "cuda-INDEX" with its peak of card memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "engine/cuda/cards.h"
#include "engine/engine_list.h"
#include "runtime/stream.h"
#include "tests/emulated_engine/emulated_engine.h"

namespace roentgen {
namespace {

emulated::MemoryUse& memory_use() {
  static emulated::MemoryUse use;
  return use;
}

}  // namespace

namespace runtime {

CudaInventory find_cuda_devices() {
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
  return std::make_unique<emulated::EmulatedDevice>(emulated::DeviceOptions{.use = &memory_use()});
}

}  // namespace runtime

namespace engine {
namespace {

class EmulatedCard final : public emulated::EmulatedEngine {
 public:
  explicit EmulatedCard(runtime::CudaDeviceInfo card)
      : emulated::EmulatedEngine({.use = &memory_use()}), card_(std::move(card)) {}
  ~EmulatedCard() override {
    const char* const folder = std::getenv("ROENTGEN_EMULATED_MEMORY");
    if (folder != nullptr) std::ofstream(fmt::format("{}/cuda-{}", folder, card_.index)) << memory_use().peak();
  }
  EmulatedCard(const EmulatedCard&) = delete;
  EmulatedCard& operator=(const EmulatedCard&) = delete;
  [[nodiscard]] std::string description() const override { return fmt::format("cuda:{} {}", card_.index, card_.name); }
  [[nodiscard]] std::string device_id() const override { return card_.bus; }
  [[nodiscard]] std::string why_not_auto() const override { return "it is emulated"; }

 private:
  runtime::CudaDeviceInfo card_;
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
