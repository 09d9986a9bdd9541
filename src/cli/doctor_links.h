// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Starts ranks that measure the links between them, for `doctor net` and `doctor scale`.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "core/value.h"

namespace roentgen::cli {

/// Starts this command again on hosts, where it must call links_as_rank(). Returns the result of bench::run_links()
/// with `cards`: {library, gb_per_s, latency_us} of averages over NCCL, or {reason} where ranks have no GPU to
/// themselves. Throws CommError without MPI or if a host cannot be reached.
/// @param hosts hosts with their numbers of ranks, such as "a:2,b:2"; empty: this host, with a rank for each GPU, at
///   least two
/// @param changed options and their new values, in turn
[[nodiscard]] Value measure_links_on(const std::string& hosts, const std::vector<std::string>& changed = {});
/// Takes part in the measurement, as one of the started ranks.
/// @param gdr value of --gdr: GPUDirect RDMA of NCCL
[[nodiscard]] CommandResult links_as_rank(const std::string& gdr);

}  // namespace roentgen::cli
