// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Signals that ask a run to save everything and stop.
#pragma once

namespace roentgen::cli {

/// Installs handlers: SIGINT, SIGTERM, SIGUSR1 and SIGHUP request a stop; a second SIGINT or SIGTERM ends the process
/// at once. SIGUSR1 and SIGHUP may arrive several times, because launchers and terminals repeat them. SIGHUP stays
/// ignored under nohup.
void listen_for_stop();
/// Ignores SIGPIPE: writing to a closed pipe then fails, but does not end the process. So a run continues if the reader
/// of its progress exits. Call it before anything is printed.
void ignore_closed_pipes();
/// True if SIGHUP is ignored because this process was started with nohup or by a similar parent.
[[nodiscard]] bool is_hangup_ignored();
/// True if a stop was requested since listen_for_stop(). Thread-safe.
[[nodiscard]] bool is_stop_asked();
/// Ignores further stop signals, because everything is saved already.
void ignore_stop();

}  // namespace roentgen::cli
