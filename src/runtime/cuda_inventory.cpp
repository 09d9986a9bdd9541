// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selection of a CUDA device from a plain list, so that its tests need no device.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "runtime/stream.h"

namespace roentgen::runtime {
namespace {
constexpr double kMiB = 1048576.0;

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version / 10 % 100); }
}  // namespace

void require_device_memory(std::string_view device, std::string_view what, std::size_t bytes, std::size_t free_bytes) {
  if (bytes <= free_bytes) return;
  throw DeviceError(error_text("runtime.device", fmt::format("memory of {}", device),
                               fmt::format("at most {:.1f} MiB (free memory)", static_cast<double>(free_bytes) / kMiB),
                               fmt::format("{:.1f} MiB for {}", static_cast<double>(bytes) / kMiB, what),
                               "a smaller batch, or recompute=all"));
}

std::string why_no_cuda_devices(std::string_view words, int driver, int runtime) {
  if (driver == 0) return fmt::format("no NVIDIA driver: {}", words);
  if (driver / 1000 >= runtime / 1000) return std::string(words);
  return fmt::format("the NVIDIA driver knows CUDA {}, this program needs {}: {}", version_text(driver),
                     version_text(runtime), words);
}

CudaDeviceInfo pick_cuda_device(const CudaInventory& inventory, int index) {
  constexpr std::string_view kRemedy = "--device cpu";
  const std::string name = "cuda:" + std::to_string(index);
  if (inventory.devices.empty()) {
    throw DeviceError(
        error_text("runtime.cuda", "device " + name, "a CUDA device", "none: " + inventory.why_none, kRemedy));
  }
  const auto found = std::ranges::find(inventory.devices, index, &CudaDeviceInfo::index);
  if (found != inventory.devices.end()) {
    if (found->compute_capability >= kLeastComputeCapability) return *found;
    const auto text = [](int capability) { return fmt::format("{}.{}", capability / 10, capability % 10); };
    throw DeviceError(error_text("runtime.cuda", "device " + name,
                                 fmt::format("compute capability {} or later", text(kLeastComputeCapability)),
                                 fmt::format("{}, {}", text(found->compute_capability), found->name), kRemedy));
  }
  const std::string last = std::to_string(inventory.devices.back().index);
  throw DeviceError(error_text(
      "runtime.cuda", "device " + name,
      inventory.devices.size() == 1 ? "cuda:" + last + ", the only CUDA device" : "one of cuda:0 to cuda:" + last, name,
      kRemedy));
}

}  // namespace roentgen::runtime
