// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of graph passes, in the order they run. A pass is a pure function Graph -> Graph with the same results
// up to rounding; each can be switched (`--fuse off|on|NAME,...`). A new pass: graph/passes/x.cpp and one line here,
// which also says whether training can use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

// batch_norm_add_relu: relu(batch_norm(x) + r) becomes one node: one pass over memory instead of three.
// batch_norm_relu:     relu(batch_norm(x)) becomes one node.
// virtual_concat:      a concat that only batch norms read is never stored.
// fold_batch_norm:     a batch norm that alone reads a convolution is computed by it, with the activation and the
//                      addition that it took in.
// fold_relu:           a relu that alone reads a convolution or linear layer is computed by it.
#define RG_PASS_LIST(X)          \
  X(batch_norm_add_relu, Always) \
  X(batch_norm_relu, Always)     \
  X(virtual_concat, Always)      \
  X(fold_batch_norm, Inference)  \
  X(fold_relu, Inference)

namespace roentgen::graph {

#define RG_PASS_DECLARATION(name, use) [[nodiscard]] Graph name(const Graph& graph);
RG_PASS_LIST(RG_PASS_DECLARATION)
#undef RG_PASS_DECLARATION

/// What a graph is prepared for.
enum class Purpose : std::uint8_t { Training, Inference };

/// Names of all passes, in running order; of those that training can use.
[[nodiscard]] const std::vector<std::string_view>& pass_names();
[[nodiscard]] std::vector<std::string_view> training_pass_names();
/// ConfigError unless run_passes() takes this choice.
void check_passes(std::string_view choice);
/// Runs "on" (all), "off" (none) or a comma-separated choice, without those that the purpose has no use for;
/// ConfigError for an unknown name.
[[nodiscard]] Graph run_passes(const Graph& graph, std::string_view choice, Purpose purpose);

}  // namespace roentgen::graph
