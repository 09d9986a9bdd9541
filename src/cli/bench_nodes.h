// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `bench nodes`: starts a group of processes, or is one of them.
#pragma once

#include "bench/nodes.h"
#include "cli/launch.h"
#include "core/value.h"

namespace roentgen::cli {

/// The result of all ranks; null on ranks other than 0, which have nothing to tell. `options.step.threads` 0: as many
/// as a rank has cores. Throws as bench::run_nodes(), run_as_ranks() and run_for_json(); ConfigError for one rank.
[[nodiscard]] Value run_nodes_case(RankOptions ranked, bench::NodesOptions options);
/// Does a program that ran this end with an error? Where a rank computed something else; ranks that this program
/// started leave that to it.
[[nodiscard]] bool has_failed(const Value& result);

}  // namespace roentgen::cli
