// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Division of a host's cores among processes, so that each gets cores near its PCI device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/core_list.h"

namespace roentgen::runtime {

/// Returns the cores of `cores` that are in the same NUMA node or package as a PCI device, according to hwloc. Empty if
/// hwloc does not know the device or no core of `cores` is near it.
/// @param bus PCI bus address, such as "0000:3B:00.0"
[[nodiscard]] CoreList near_cores(const CoreList& cores, const std::string& bus);

/// True if hwloc knows the PCI device and none of `cores` is near it.
[[nodiscard]] bool is_far(const CoreList& cores, const std::string& bus);

/// Divides cores like shares_of_units(), or like shares_of() if `unit` is nullopt.
[[nodiscard]] std::vector<CoreList> equal_shares(const CoreList& cores, int parts, std::optional<CoreUnit> unit);

/// Result of shares_near().
struct NearShares {
  /// Cores of each process.
  std::vector<CoreList> cores;
  /// Reason why processes got equal shares; empty if each process got only cores near its device.
  std::string why_equal{};
};

/// Divides `cores` among the processes of this host, so that each process gets cores near its device. Processes with
/// the same near cores divide them like shares_of(). Cores near no device are not used. Processes get equal_shares() if
/// a device has no near core, or if sets of near cores overlap in part. They also get equal_shares() if a process would
/// otherwise have fewer than half as many cores. The processes with the fewest near cores then choose first, each the
/// share with the most cores near its device.
/// @param near result of near_cores() for each process's device; at least one
/// @param unit unit whose borders no equal share should cross; nullopt: none
[[nodiscard]] NearShares shares_near(const CoreList& cores, const std::vector<CoreList>& near,
                                     std::optional<CoreUnit> unit = std::nullopt);

}  // namespace roentgen::runtime
