// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the nodes of a network that inference needs.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace roentgen::graph {

/// For every node, true if an output of the graph needs it in inference. The loss then ignores auxiliary classifiers,
/// so nodes that only they need are false. The parameters of the graph stay the same.
[[nodiscard]] std::vector<bool> needed_in_inference(const Graph& graph);

}  // namespace roentgen::graph
