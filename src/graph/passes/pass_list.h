// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of graph passes, in the order they run. A pass is a pure function Graph -> Graph with the same results
// up to rounding; each can be switched (`--fuse off|on|NAME,...`). A new pass: graph/passes/x.cpp and one line here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

// batch_norm_add_relu: relu(batch_norm(x) + r) becomes one node: one pass over memory instead of three.
// batch_norm_relu:     relu(batch_norm(x)) becomes one node.
// virtual_concat:      a concat that only batch norms read is never stored.
#define RG_PASS_LIST(X)  \
  X(batch_norm_add_relu) \
  X(batch_norm_relu)     \
  X(virtual_concat)

namespace roentgen::graph {

#define RG_PASS_DECLARATION(name) [[nodiscard]] Graph name(const Graph& graph);
RG_PASS_LIST(RG_PASS_DECLARATION)
#undef RG_PASS_DECLARATION

/// Names of all passes, in running order.
[[nodiscard]] const std::vector<std::string_view>& pass_names();
/// ConfigError unless run_passes() takes this choice.
void check_passes(std::string_view choice);
/// Runs "on" (all), "off" (none) or a comma-separated choice; ConfigError for an unknown name.
[[nodiscard]] Graph run_passes(const Graph& graph, std::string_view choice);

}  // namespace roentgen::graph
