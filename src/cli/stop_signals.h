// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Signals that ask a run to stop with everything saved.
#pragma once

namespace roentgen::cli {

/// Makes SIGINT, SIGTERM, SIGUSR1 and SIGHUP ask for a stop; a second SIGINT or SIGTERM ends the process at once.
/// SIGUSR1 and SIGHUP may come several times: launchers and terminals repeat them. SIGHUP stays ignored under nohup.
void listen_for_stop();
/// Makes a closed pipe an error of the write alone, so that a reader of the progress that exits does not end the run.
/// Call it before anything is printed.
void ignore_closed_pipes();
/// True where nohup, or a parent like it, keeps SIGHUP from this process.
[[nodiscard]] bool is_hangup_ignored();
/// Whether a stop was requested since listen_for_stop(). Thread-safe.
[[nodiscard]] bool is_stop_asked();
/// Ignores these signals from now on, because everything is saved.
void ignore_stop();

}  // namespace roentgen::cli
