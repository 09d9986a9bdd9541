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

// Number of terms in the longest sum of each op. An op without an overload does not compile.

/// Forward sums IC/groups KH KW terms, the data gradient OC/groups KH KW, the weight gradient N OH OW.
std::int64_t longest_sum(const graph::Conv2d& op, const Graph& graph, const Node& node) {
  const std::int64_t channels = std::max(source(graph, node)[1], op.out_channels) / op.groups;
  return std::max(channels * op.kernel.height * op.kernel.width, per_channel(node.shape));
}
/// Sums over N H W: mean, variance, diff_scale and diff_shift. diff_src subtracts two such sums, with twice the error.
std::int64_t longest_sum(const graph::BatchNorm&, const Graph&, const Node& node) {
  return 4 * per_channel(node.shape);
}
/// No sum; the result is exact.
std::int64_t longest_sum(const graph::Relu&, const Graph&, const Node&) { return 0; }
/// No sum. Counts the error of exp, a few units in the last place, twice in the gradient.
std::int64_t longest_sum(const graph::Silu&, const Graph&, const Node&) { return 16; }
std::int64_t longest_sum(const graph::Sigmoid&, const Graph&, const Node&) { return 16; }
/// Sum of the gradients of overlapping windows.
std::int64_t longest_sum(const graph::MaxPool& op, const Graph&, const Node&) {
  return op.kernel.height * op.kernel.width;
}
std::int64_t longest_sum(const graph::AvgPool& op, const Graph&, const Node&) {
  return op.kernel.height * op.kernel.width;
}
std::int64_t longest_sum(const graph::GlobalAvgPool&, const Graph& graph, const Node& node) {
  return source(graph, node)[2] * source(graph, node)[3];
}
/// Sums over a region, which has up to one pixel more than the quotient, or over the gradients of all regions that
/// contain a pixel.
std::int64_t longest_sum(const graph::AdaptiveAvgPool& op, const Graph& graph, const Node& node) {
  const Shape& src = source(graph, node);
  const auto most = [](std::int64_t a, std::int64_t b) { return std::max(a / b, b / a) + 2; };
  return most(src[2], op.out.height) * most(src[3], op.out.width);
}
/// Forward sums IC terms, the data gradient OC, the weight gradient N.
std::int64_t longest_sum(const graph::Linear& op, const Graph& graph, const Node& node) {
  return std::max({source(graph, node)[1], op.out_features, node.shape[0]});
}
std::int64_t longest_sum(const graph::Add&, const Graph&, const Node&) { return 2; }
/// Ops that only move values.
std::int64_t longest_sum(const graph::Concat&, const Graph&, const Node&) { return 0; }
std::int64_t longest_sum(const graph::Dropout&, const Graph&, const Node&) { return 1; }
std::int64_t longest_sum(const graph::Flatten&, const Graph&, const Node&) { return 0; }
std::int64_t longest_sum(const graph::Auxiliary&, const Graph&, const Node&) { return 0; }
/// Sums are in double. Counts the errors of exp and log, a few units in the last place.
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
