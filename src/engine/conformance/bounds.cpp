// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/conformance/bounds.h"

#include <algorithm>
#include <cmath>

#include "graph/visit_op.h"

namespace roentgen::engine::conformance {
namespace {
constexpr double kSafety = 8.0;

using graph::Graph;
using graph::Node;

const Shape& source(const Graph& graph, const Node& node) { return graph.node(node.inputs[0]).shape; }
std::int64_t per_channel(const Shape& shape) { return shape.elements() / shape[1]; }

// Longest sum of each op, in terms. An op without one does not compile.

/// Forward IC/groups KH KW, data gradient OC/groups KH KW, weight gradient N OH OW.
std::int64_t longest_sum(const graph::Conv2d& op, const Graph& graph, const Node& node) {
  const std::int64_t channels = std::max(source(graph, node)[1], op.out_channels) / op.groups;
  return std::max(channels * op.kernel.height * op.kernel.width, per_channel(node.shape));
}
/// Mean, variance, diff_scale and diff_shift over N H W; diff_src subtracts two of them, twice the error of one.
std::int64_t longest_sum(const graph::BatchNorm&, const Graph&, const Node& node) {
  return 4 * per_channel(node.shape);
}
/// No sum; exact.
std::int64_t longest_sum(const graph::Relu&, const Graph&, const Node&) { return 0; }
/// No sum, but an exp of a few units in the last place, twice in the gradient.
std::int64_t longest_sum(const graph::Silu&, const Graph&, const Node&) { return 16; }
std::int64_t longest_sum(const graph::Sigmoid&, const Graph&, const Node&) { return 16; }
/// Gradients of overlapping windows meet.
std::int64_t longest_sum(const graph::MaxPool& op, const Graph&, const Node&) {
  return op.kernel.height * op.kernel.width;
}
std::int64_t longest_sum(const graph::AvgPool& op, const Graph&, const Node&) {
  return op.kernel.height * op.kernel.width;
}
std::int64_t longest_sum(const graph::GlobalAvgPool&, const Graph& graph, const Node& node) {
  return source(graph, node)[2] * source(graph, node)[3];
}
/// Regions of one more pixel than the quotient, and of gradients of as many regions as a pixel can be in.
std::int64_t longest_sum(const graph::AdaptiveAvgPool& op, const Graph& graph, const Node& node) {
  const Shape& src = source(graph, node);
  const auto most = [](std::int64_t a, std::int64_t b) { return std::max(a / b, b / a) + 2; };
  return most(src[2], op.out.height) * most(src[3], op.out.width);
}
/// Forward IC, data gradient OC, weight gradient N.
std::int64_t longest_sum(const graph::Linear& op, const Graph& graph, const Node& node) {
  return std::max({source(graph, node)[1], op.out_features, node.shape[0]});
}
std::int64_t longest_sum(const graph::Add&, const Graph&, const Node&) { return 2; }
/// Moves only.
std::int64_t longest_sum(const graph::Concat&, const Graph&, const Node&) { return 0; }
std::int64_t longest_sum(const graph::Dropout&, const Graph&, const Node&) { return 1; }
std::int64_t longest_sum(const graph::Flatten&, const Graph&, const Node&) { return 0; }
std::int64_t longest_sum(const graph::Auxiliary&, const Graph&, const Node&) { return 0; }
/// Sums run in double; exp and log of a few units in the last place.
std::int64_t longest_sum(const graph::SigmoidCrossEntropy&, const Graph&, const Node&) { return 16; }
std::int64_t longest_sum(const graph::SoftmaxCrossEntropy&, const Graph&, const Node&) { return 16; }
}  // namespace

double error_bound(const Graph& graph) {
  double growth = 1.0;
  for (const Node& node : graph.nodes()) {
    graph::visit_op(node.op,
                    [&](const auto& op) { growth += std::sqrt(static_cast<double>(longest_sum(op, graph, node))); });
  }
  return kSafety * 0x1p-24 * growth;
}

}  // namespace roentgen::engine::conformance
