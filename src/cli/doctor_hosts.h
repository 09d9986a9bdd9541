// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `doctor --hosts`: examines several hosts and compares them.
#pragma once

#include <string>

#include "cli/command.h"
#include "core/value.h"

namespace roentgen::cli {

/// Formats findings for people, one paragraph for each: "wrong: TEXT" and "  try REMEDY"; "nothing is wrong" if there
/// are none. Ends with a newline.
/// @param findings doctor::to_value() of findings
[[nodiscard]] std::string findings_text(const Value& findings);

/// Starts this program on each host, prints the findings of each and the differences between them. As one of the
/// started processes, it takes part in that instead. The exit code is kFailure if something is wrong on a host or hosts
/// differ. Throws ConfigError for a list of another form, and CommError if a host cannot be reached.
/// @param hosts names separated by commas; not read in a started process
[[nodiscard]] CommandResult examine_hosts(const std::string& hosts);

}  // namespace roentgen::cli
