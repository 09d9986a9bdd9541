// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Signals that ask a run to stop with everything saved.
#pragma once

namespace roentgen::cli {

/// From now on SIGINT, SIGTERM and SIGUSR1 ask for a stop, and a second SIGINT or SIGTERM ends the process at once.
/// SIGUSR1 may come several times: launchers repeat it.
void listen_for_stop();
/// Was a stop asked for since listen_for_stop()? Thread-safe.
[[nodiscard]] bool is_stop_asked();
/// All is saved: none of these signals changes how the process ends any more.
void ignore_stop();

}  // namespace roentgen::cli
