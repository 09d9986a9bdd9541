// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Disturbance: what else a machine did while a benchmark ran, read from the kernel's counters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::bench {

/// Folders of the kernel's counters; tests use folders of their own.
struct KernelFolders {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

/// Counters of the machine at one moment. Unknown values are nullopt.
struct MachineState {
  double seconds = 0.0;                     ///< time of the reading by a steady clock
  std::optional<double> busy_s{};           ///< CPU time used on all cores since the start of the machine
  std::optional<double> own_s{};            ///< CPU time that this process used
  std::optional<double> stolen_s{};         ///< CPU time that the hypervisor gave to other virtual machines
  std::optional<std::int64_t> throttles{};  ///< number of times that cores became slower because of heat
  std::optional<double> mhz{};              ///< mean clock of all cores
};

/// Reads the counters. Thread-safe.
[[nodiscard]] MachineState machine_state(const KernelFolders& folders = {});

/// Changes of the machine's counters between two readings. CPU time is given as a mean number of cores.
struct Disturbance {
  std::optional<double> other_cores{};      ///< mean number of cores that other processes used
  std::optional<double> stolen_cores{};     ///< mean number of cores that the hypervisor took away
  std::optional<std::int64_t> throttles{};  ///< number of times that cores became slower because of heat
  std::optional<double> clock_ratio{};      ///< clock at the end divided by the clock at the begin
};

/// Compares two readings. `end` must be later than `begin`.
/// @param own_processes number of processes of the benchmark on this machine. Only one process is read, so that with
///   several of them other_cores is nullopt.
[[nodiscard]] Disturbance disturbance_between(const MachineState& begin, const MachineState& end,
                                              std::int64_t own_processes = 1);
/// Returns one sentence without a full stop for everything that can have changed a measured time by more than 2%.
[[nodiscard]] std::vector<std::string> signs_of(const Disturbance& disturbance);
/// Returns a table {other_cores, stolen_cores, throttles, clock_ratio}; unknown values are null.
[[nodiscard]] Value to_value(const Disturbance& disturbance);
/// Reads a table that to_value() made.
[[nodiscard]] Disturbance disturbance_in(const Value& table);

}  // namespace roentgen::bench
