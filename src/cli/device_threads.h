// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Several devices driven by one process: a thread for each, which is a rank of a dist::ThreadGroup.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch.h"
#include "cli/watchdog.h"

namespace roentgen::cli {

/// Parses a list of devices such as "cuda:0,1"; empty for an empty text. Throws ConfigError for another form.
[[nodiscard]] std::vector<engine::DeviceChoice> parse_devices(const std::string& text);

/// Returns the device of a rank of RankOptions::devices; nullopt if these are empty.
[[nodiscard]] std::optional<engine::DeviceChoice> device_of(const RankOptions& options, dist::CommThread* group);

/// Runs `body` in a thread for each of RankOptions::devices, with the group of all. Returns the result of the first
/// one, whose thread alone prints. If a rank fails, the others end, and its exception is thrown. A thread whose device
/// hangs cannot end. If one is left `grace` after the first failure, prints the failure and ends the process with the
/// failure's exit code. Throws ConfigError if other options start ranks, or a launcher has.
[[nodiscard]] CommandResult run_as_threads(const RankOptions& options, bool is_launched,
                                           const std::function<CommandResult(dist::CommThread* group)>& body,
                                           std::chrono::milliseconds grace = kEndGrace);

}  // namespace roentgen::cli
