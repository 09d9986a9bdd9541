// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which hosts still start a process.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/host_list.h"

namespace roentgen::cli {

/// Runs a command for each host, some at a time, without output. A host answers if its command ends with exit code 0
/// within `limit`; a command that takes longer is killed with its process group. This host always answers.
/// @param command_for program and arguments for a host
/// @return the hosts that answer, in their order
[[nodiscard]] HostList find_answering(const HostList& hosts,
                                      const std::function<std::vector<std::string>(const HostSlots& host)>& command_for,
                                      std::chrono::milliseconds limit);

}  // namespace roentgen::cli
