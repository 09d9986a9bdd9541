// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the hosts that can still start a process.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/host_list.h"

namespace roentgen::cli {

/// Runs a command for each host, several at a time, and discards its output. A host answers if its command ends with
/// exit code 0 within `limit`. A slower command is killed with its process group. The host of the calling process
/// always counts as answering.
/// @param command_for returns program and arguments for a host
/// @return hosts that answer, in the order of `hosts`
[[nodiscard]] HostList find_answering(const HostList& hosts,
                                      const std::function<std::vector<std::string>(const HostSlots& host)>& command_for,
                                      std::chrono::milliseconds limit);

}  // namespace roentgen::cli
