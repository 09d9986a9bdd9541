// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DeviceWatch: readings of a device while updates run on it, and their summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/value.h"
#include "runtime/device_monitor.h"

namespace roentgen::train {

/// Use of a device over the updates of a run.
struct DeviceFigures {
  double busy_percent = 0.0;         ///< mean share of the time in which a kernel ran
  double power_w = 0.0;              ///< mean power
  std::size_t most_used_bytes = 0;   ///< largest memory in use
  std::size_t memory_bytes = 0;      ///< all its memory
  std::optional<double> energy_j{};  ///< energy of the updates; nullopt where the device does not count it
  /// Images trained on per joule; nullopt without the energy.
  std::optional<double> images_per_j{};
};

/// Reads a monitor about once a second between begin() and end(). Does nothing without a monitor. One thread.
class DeviceWatch {
 public:
  /// @param monitor may be null; must outlive this
  /// @param now_s clock in seconds; empty: the system's steady clock
  explicit DeviceWatch(runtime::DeviceMonitor* monitor, std::function<double()> now_s = {});

  /// Updates begin.
  void begin();
  /// A new reading, where the last one or begin() is a second ago.
  [[nodiscard]] std::optional<runtime::DeviceUse> look();
  /// Updates end. Reads once more; until begin(), no energy counts.
  void end();
  /// Summary of all readings; nullopt when there is none.
  /// @param images trained on between begin() and end() on the device
  [[nodiscard]] std::optional<DeviceFigures> figures(std::int64_t images) const;

 private:
  /// Reads, and adds to the sums.
  std::optional<runtime::DeviceUse> read();

  runtime::DeviceMonitor* monitor_;
  std::function<double()> now_s_;
  double last_s_ = 0.0;
  std::optional<double> energy_at_begin_j_;
  // Sums over the readings.
  std::int64_t readings_ = 0;
  DeviceFigures sums_;
};

/// "GPU 97%, 41 of 139 GiB, 640 W".
/// @param busy_percent mean of the last readings
[[nodiscard]] std::string device_text(const runtime::DeviceUse& use, double busy_percent);
/// "GPU 97% busy, at most 41 of 139 GiB, 640 W, 13.8 images/J".
[[nodiscard]] std::string device_text(const DeviceFigures& figures);
/// Table of the figures for JSON.
[[nodiscard]] Value to_value(const DeviceFigures& figures);

}  // namespace roentgen::train
