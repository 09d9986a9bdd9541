// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DeviceMonitor: use of a CUDA device, from NVIDIA's management library (NVML), which is loaded at run time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace roentgen::runtime {

/// Use of a device at one time.
struct DeviceUse {
  double power_w = 0.0;          ///< power that it draws
  double power_limit_w = 0.0;    ///< power that it may draw
  int busy_percent = 0;          ///< share of the last sample in which a kernel ran
  std::size_t used_bytes = 0;    ///< memory in use
  std::size_t memory_bytes = 0;  ///< all its memory
  std::size_t processes = 0;     ///< processes that compute on it, this one included once it does
  /// Energy that it has drawn since its driver was loaded, J; nullopt where it is not counted.
  std::optional<double> energy_j{};
};

/// Watches one device. Thread-compatible.
class DeviceMonitor {
 public:
  virtual ~DeviceMonitor() = default;
  /// Current use; nullopt where the library does not report it.
  [[nodiscard]] virtual std::optional<DeviceUse> read() = 0;
};

/// Monitor of the device at that place of the bus (CudaDeviceInfo::bus). Null where NVML or the device is absent.
/// @param library file of NVML
[[nodiscard]] std::unique_ptr<DeviceMonitor> make_nvml_monitor(const std::string& bus,
                                                               const std::string& library = "libnvidia-ml.so.1");

/// One-line warning before a process computes on a device that others use; empty where none does.
/// @param device "cuda:0"
[[nodiscard]] std::string shared_device_warning(std::string_view device, const DeviceUse& use);

}  // namespace roentgen::runtime
