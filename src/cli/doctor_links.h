// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Starts ranks that measure the links between them, for `doctor net` and `doctor scale`.
#pragma once

#include <string>

#include "cli/command.h"
#include "core/value.h"

namespace roentgen::cli {

/// Starts this command again on hosts, where it must call links_as_rank(), and returns the result of
/// bench::run_links(). Throws CommError without MPI or if a host cannot be reached.
/// @param hosts hosts with their numbers of ranks, such as "a:2,b:2"; empty: two ranks on this host
[[nodiscard]] Value measure_links_on(const std::string& hosts);
/// Takes part in the measurement, as one of the started ranks.
[[nodiscard]] CommandResult links_as_rank();

}  // namespace roentgen::cli
