// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DeviceWatch: reads load, power and memory of a device during training, and summarises them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/value.h"
#include "runtime/device_monitor.h"

namespace roentgen::train {

/// Summary of a device's use during the updates of a run.
struct DeviceFigures {
  double busy_percent = 0.0;         ///< mean percentage of time in which a kernel ran
  double power_w = 0.0;              ///< mean power in watts
  std::size_t most_used_bytes = 0;   ///< largest memory in use
  std::size_t memory_bytes = 0;      ///< total memory of the device
  std::optional<double> energy_j{};  ///< energy of the updates in joules; nullopt if not counted
  /// Training images per joule; nullopt if the energy is unknown.
  std::optional<double> images_per_j{};
};

/// Reads a monitor about once a second between begin() and end(). Does nothing without a monitor. Not thread-safe.
class DeviceWatch {
 public:
  /// @param monitor monitor of the device; may be null; must outlive this object
  /// @param now_s clock in seconds; empty: the system's steady clock
  explicit DeviceWatch(runtime::DeviceMonitor* monitor, std::function<double()> now_s = {});

  /// Starts a series of readings, before the first update.
  void begin();
  /// Returns a new reading if a second has passed since the last one or begin(); otherwise nullopt.
  [[nodiscard]] std::optional<runtime::DeviceUse> look();
  /// Ends the series with one more reading, after the last update. Energy until the next begin() is not counted.
  void end();
  /// Returns the summary of all readings; nullopt if there are none.
  /// @param images number of images trained on the device between begin() and end()
  [[nodiscard]] std::optional<DeviceFigures> figures(std::int64_t images) const;

 private:
  /// Reads the monitor and adds the reading to the sums.
  std::optional<runtime::DeviceUse> read();

  runtime::DeviceMonitor* monitor_;
  std::function<double()> now_s_;
  double last_s_ = 0.0;
  std::optional<double> energy_at_begin_j_;
  // Sums over the readings.
  std::int64_t readings_ = 0;
  DeviceFigures sums_;
};

/// Returns text such as "GPU 97%, 41 of 139 GiB, 640 W".
/// @param busy_percent mean over the most recent readings
[[nodiscard]] std::string device_text(const runtime::DeviceUse& use, double busy_percent);
/// Returns text such as "GPU 97% busy, at most 41 of 139 GiB, 640 W, 13.8 images/J".
[[nodiscard]] std::string device_text(const DeviceFigures& figures);
/// Returns the summary as a table for JSON.
[[nodiscard]] Value to_value(const DeviceFigures& figures);

}  // namespace roentgen::train
