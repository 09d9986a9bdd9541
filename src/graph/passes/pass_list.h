// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of graph passes, in the order they run, and of the fusions that an engine makes while it lowers a graph.
// A pass is a pure function Graph -> Graph with the same results up to rounding. A fusion lets a kernel do a
// neighbour's work, where the chosen kernels can; it leaves the graph as it is. Each can be switched (`--fuse
// off|on|NAME,...|on,-NAME,...`).
// A new pass needs graph/passes/x.cpp and one line here, which also says whether training can use it. A new fusion
// needs a line here, and an engine that asks Fusions for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

// batch_norm_add_relu: relu(batch_norm(x) + r) becomes one node: one pass over memory instead of three.
// batch_norm_relu:     relu(batch_norm(x)) becomes one node.
// virtual_concat:      a concat that only batch norms read is never stored.
// fold_batch_norm:     a convolution also computes the batch norm that is its only reader, including the activation
//                      and addition that were fused into the batch norm.
// fold_relu:           a convolution or linear layer also computes the relu that is its only reader.
#define RG_PASS_LIST(X)          \
  X(batch_norm_add_relu, Always) \
  X(batch_norm_relu, Always)     \
  X(virtual_concat, Always)      \
  X(fold_batch_norm, Inference)  \
  X(fold_relu, Inference)

// Fusions in training:
// normalised_input: a convolution or pooling normalises its own input; the batch norm's result is never stored.
// norm_moments:     a convolution sums the moments of its output for the batch norm that reads it.
// norm_gradient:    the data gradient of a convolution includes the backward pass of the batch norms before it, if
//                   these share their statistics.
#define RG_FUSION_LIST(X) X(normalised_input) X(norm_moments) X(norm_gradient)

namespace roentgen::graph {

#define RG_PASS_DECLARATION(name, use) /** The pass of that name. */ [[nodiscard]] Graph name(const Graph& graph);
RG_PASS_LIST(RG_PASS_DECLARATION)
#undef RG_PASS_DECLARATION

/// Use for which a graph is prepared.
enum class Purpose : std::uint8_t { Training, Inference };

/// Fusions that are enabled.
struct Fusions {
#define RG_FUSION_MEMBER(name) bool name = false; /**< is this fusion on? */
  RG_FUSION_LIST(RG_FUSION_MEMBER)
#undef RG_FUSION_MEMBER
  bool operator==(const Fusions&) const = default;
};

/// Names of all passes, in the order in which they run.
[[nodiscard]] const std::vector<std::string_view>& pass_names();
/// Names of the passes that are used in training.
[[nodiscard]] std::vector<std::string_view> training_pass_names();
/// Names of all fusions.
[[nodiscard]] const std::vector<std::string_view>& fusion_names();
/// Throws ConfigError if run_passes() does not accept this choice of passes.
void check_passes(std::string_view choice);
/// Runs the chosen passes that are useful for `purpose`. `choice` is "on" (all), "off" (none), or a list of names
/// separated by commas. "on,-virtual_concat,-norm_moments" means all except the names with a minus. Throws ConfigError
/// for an unknown name.
[[nodiscard]] Graph run_passes(const Graph& graph, std::string_view choice, Purpose purpose);
/// Returns the fusions that `choice` enables; none for inference.
[[nodiscard]] Fusions fusions_of(std::string_view choice, Purpose purpose);
/// For each chosen pass, in the order in which they run, the number of nodes that it changes; removed nodes do not
/// count. Omits passes that change nothing in this graph.
[[nodiscard]] std::vector<std::pair<std::string_view, std::int64_t>> pass_effects(const Graph& graph,
                                                                                  std::string_view choice,
                                                                                  Purpose purpose);

}  // namespace roentgen::graph
