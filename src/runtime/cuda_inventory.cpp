// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The choice among CUDA devices: plain data, so that it is tested without one.
#include <algorithm>

#include "core/error.h"
#include "runtime/stream.h"

namespace roentgen::runtime {

CudaDeviceInfo pick_cuda_device(const CudaInventory& inventory, int index) {
  constexpr std::string_view kRemedy = "the device cpu";
  const std::string name = "cuda:" + std::to_string(index);
  if (inventory.devices.empty()) {
    throw DeviceError(
        error_text("runtime.cuda", "device " + name, "a CUDA device", "none: " + inventory.why_none, kRemedy));
  }
  const auto found = std::ranges::find(inventory.devices, index, &CudaDeviceInfo::index);
  if (found != inventory.devices.end()) return *found;
  const std::string last = std::to_string(inventory.devices.back().index);
  throw DeviceError(error_text(
      "runtime.cuda", "device " + name,
      inventory.devices.size() == 1 ? "cuda:" + last + ", the only CUDA device" : "one of cuda:0 to cuda:" + last, name,
      kRemedy));
}

}  // namespace roentgen::runtime
