// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Division of a host's cores among processes, so that each gets cores near its PCI device.
#pragma once

#include <string>
#include <vector>

#include "runtime/core_list.h"

namespace roentgen::runtime {

/// Returns the cores of `cores` that are in the same NUMA node or package as a PCI device, according to hwloc. Empty if
/// hwloc does not know the device or no core of `cores` is near it.
/// @param bus PCI bus address, such as "0000:3B:00.0"
[[nodiscard]] CoreList near_cores(const CoreList& cores, const std::string& bus);

/// Divides `cores` among the processes of this host, so that each process gets cores near its device. Processes with
/// the same near cores divide them like shares_of(). Cores near no device are not used. If any device has no cores near
/// it, the result is that of shares_of().
/// @param near result of near_cores() for each process's device; at least one
[[nodiscard]] std::vector<CoreList> shares_near(const CoreList& cores, const std::vector<CoreList>& near);

}  // namespace roentgen::runtime
