// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shares of a host's cores near devices on its PCI bus.
#pragma once

#include <string>
#include <vector>

#include "runtime/core_list.h"

namespace roentgen::runtime {

/// Those of `cores` that share a NUMA node or package with a PCI device, by hwloc. Empty: hwloc does not know the
/// device, or none of `cores` is near it.
/// @param bus "0000:3B:00.0"
[[nodiscard]] CoreList near_cores(const CoreList& cores, const std::string& bus);

/// Shares of `cores`, one for each process of this host, each near the device of that process. Processes whose devices
/// are near the same cores divide these as shares_of() does. Cores near no device belong to no share. If a device has
/// no cores near it, the result is that of shares_of().
/// @param near near_cores() of each process's device; at least one
[[nodiscard]] std::vector<CoreList> shares_near(const CoreList& cores, const std::vector<CoreList>& near);

}  // namespace roentgen::runtime
