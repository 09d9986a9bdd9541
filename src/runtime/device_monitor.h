// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DeviceMonitor: reads power, memory and load of a CUDA device from NVIDIA's management library (NVML), loaded at run
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace roentgen::runtime {

/// Reasons for a lower clock, as bits of DeviceUse::throttle_reasons (nvml.h, nvmlClocksEventReasons).
struct ThrottleReason {
  static constexpr std::int64_t kPowerCap = 0x04;  ///< the power limit
  static constexpr std::int64_t kHardware = 0x08;  ///< the hardware; heat and power brake have bits of their own, too
  static constexpr std::int64_t kHeat = 0x20 | 0x40;  ///< temperature of the chip or its memory
  static constexpr std::int64_t kPowerBrake = 0x80;   ///< signal of the power supply
};

/// State of a device at one moment.
struct DeviceUse {
  double power_w = 0.0;          ///< power draw in watts
  double power_limit_w = 0.0;    ///< power limit in watts
  int busy_percent = 0;          ///< percentage of the last sampling period in which a kernel ran
  std::size_t used_bytes = 0;    ///< memory in use
  std::size_t memory_bytes = 0;  ///< total memory
  std::size_t processes = 0;     ///< processes that compute on the device, including this process if it does
  /// Energy used since the driver was loaded, in joules; nullopt if the device does not count it.
  std::optional<double> energy_j{};
  std::optional<double> clock_mhz{};               ///< clock of the multiprocessors; nullopt: unknown
  std::optional<double> celsius{};                 ///< temperature of the chip; nullopt: unknown
  std::optional<std::int64_t> throttle_reasons{};  ///< bits of ThrottleReason and others; nullopt: unknown
};

/// Reads the state of one device. Thread-compatible.
class DeviceMonitor {
 public:
  virtual ~DeviceMonitor() = default;
  /// Returns the current state; nullopt if the library cannot report it.
  [[nodiscard]] virtual std::optional<DeviceUse> read() = 0;
};

/// Makes the monitor of the device with a PCI bus address (CudaDeviceInfo::bus). Returns null if NVML or the device is
/// missing.
/// @param library file name of NVML's shared library
[[nodiscard]] std::unique_ptr<DeviceMonitor> make_nvml_monitor(const std::string& bus,
                                                               const std::string& library = "libnvidia-ml.so.1");

/// Returns the PCI bus address of a device: the first word of its engine::Engine::device_id(). The instances of a
/// partitioned (MIG) card have different ids but the same address.
[[nodiscard]] std::string bus_of(std::string_view device_id);

/// Returns a one-line warning if other processes compute on the device; empty if none do. Call it before this process
/// uses the device.
/// @param device name of the device, such as "cuda:0"
[[nodiscard]] std::string shared_device_warning(std::string_view device, const DeviceUse& use);

}  // namespace roentgen::runtime
