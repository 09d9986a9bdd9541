// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Bounds of the difference between a float32 engine and the double reference, and their reasons.
#pragma once

#include "graph/graph.h"

namespace roentgen::engine::conformance {

/// Bound on |got - expected| / |expected| (Euclidean norms over a tensor) for any output, gradient or statistic of the
/// graph, with kernels that sum products directly. A sum of K terms of random sign, rounded after every addition, has a
/// relative error of about 2^-24 sqrt(K / 2). The errors of the nodes along a path add up at worst. So the bound is
///   kSafety * 2^-24 * sum over nodes of sqrt(longest sum the node forms, forward or backward).
/// kSafety allows for sums that cancel, for the few roundings outside of sums, and for the spread of such errors.
[[nodiscard]] double error_bound(const graph::Graph& graph);

}  // namespace roentgen::engine::conformance
