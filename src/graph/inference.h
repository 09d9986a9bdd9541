// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The part of a network that inference computes.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace roentgen::graph {

/// For every node, whether an output needs it outside training. A loss then ignores auxiliary classifiers, so nodes
/// that only they read are left out; parameters stay the graph's.
[[nodiscard]] std::vector<bool> needed_in_inference(const Graph& graph);

}  // namespace roentgen::graph
