// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Disturbance: what else a machine did while a benchmark ran, read from the counters of the kernel and of the GPU's
// driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/value.h"
#include "runtime/device_monitor.h"

namespace roentgen::bench {

/// Sources of the counters. Tests use folders and monitors of their own.
struct CounterSources {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  /// Monitor of the GPU that computes; null: none. Not owned.
  runtime::DeviceMonitor* gpu = nullptr;
  /// False: only this process and its GPU are read, because another rank of the host reads the rest.
  bool has_machine = true;
};

/// Counters of the machine at one moment. Unknown values are nullopt.
struct MachineState {
  double seconds = 0.0;                     ///< time of the reading by a steady clock
  std::optional<double> busy_s{};           ///< CPU time used on all cores since the start of the machine
  std::optional<double> own_s{};            ///< CPU time that this process used
  std::optional<double> stolen_s{};         ///< CPU time that the hypervisor gave to other virtual machines
  std::optional<std::int64_t> throttles{};  ///< number of times that cores became slower because of heat
  std::optional<double> mhz{};              ///< mean clock of all cores
  std::optional<runtime::DeviceUse> gpu{};  ///< state of the GPU that computes
};

/// Reads the counters. Thread-safe, except for the monitor.
[[nodiscard]] MachineState machine_state(const CounterSources& sources = {});

/// Changes of the counters of one host between two readings. CPU time is given as a mean number of cores. Values of the
/// GPU are those at the end, unless the comment says otherwise.
struct Disturbance {
  std::string host{};                       ///< name of the host; empty: there is only one
  std::optional<double> other_cores{};      ///< mean number of cores that other processes used
  std::optional<double> stolen_cores{};     ///< mean number of cores that the hypervisor took away
  std::optional<std::int64_t> throttles{};  ///< number of times that cores became slower because of heat
  std::optional<double> clock_ratio{};      ///< clock at the end divided by the clock at the begin
  std::optional<double> gpu_mhz{};          ///< clock of the multiprocessors, mean of begin and end
  std::optional<double> gpu_clock_ratio{};  ///< clock of the multiprocessors at the end divided by that at the begin
  std::optional<double> gpu_celsius{};      ///< temperature
  std::optional<double> gpu_limit_w{};      ///< power limit
  /// Bits of runtime::ThrottleReason that were set at the begin or the end.
  std::optional<std::int64_t> gpu_throttle_reasons{};

  friend bool operator==(const Disturbance&, const Disturbance&) = default;
};

/// Compares two readings. `end` must be later than `begin`.
[[nodiscard]] Disturbance disturbance_between(const MachineState& begin, const MachineState& end);
/// Returns one sentence without a full stop for everything that can have changed a measured time by more than 2%.
[[nodiscard]] std::vector<std::string> signs_of(const Disturbance& disturbance);
/// Joins the disturbances of the ranks of each host by their worst values. Returns the disturbance of the host with the
/// worst value, which exceeds the limit for a warning by the largest factor. The host's name is empty if all ranks are
/// on one host.
/// @param ranks disturbance of each rank, with its host; not empty
[[nodiscard]] Disturbance worst_host(std::span<const Disturbance> ranks);
/// Returns a table with an entry for each member; unknown values are null.
[[nodiscard]] Value to_value(const Disturbance& disturbance);
/// Reads a table that to_value() made.
[[nodiscard]] Disturbance disturbance_in(const Value& table);

}  // namespace roentgen::bench
