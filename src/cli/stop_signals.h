// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Signals that ask a run to stop with everything saved.
#pragma once

namespace roentgen::cli {

/// From now on SIGINT, SIGTERM, SIGUSR1 and SIGHUP ask for a stop, and a second SIGINT or SIGTERM ends the process at
/// once. SIGUSR1 and SIGHUP may come several times: launchers and terminals repeat them. SIGHUP stays ignored under
/// nohup.
void listen_for_stop();
/// From now on a closed pipe is an error of the write alone: a reader of the progress that has gone ends no run. Call
/// it before anything is printed.
void ignore_closed_pipes();
/// True where nohup, or a parent like it, keeps SIGHUP from this process.
[[nodiscard]] bool is_hangup_ignored();
/// Was a stop asked for since listen_for_stop()? Thread-safe.
[[nodiscard]] bool is_stop_asked();
/// All is saved: none of these signals changes how the process ends any more.
void ignore_stop();

}  // namespace roentgen::cli
