// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Test graphs that every engine must run correctly: cases for each op in graph/op_list.h, and small networks. A new op
// adds its `cases_of()` to one of the *_cases.cpp files here; without it, linking fails.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"

namespace roentgen::engine::conformance {

/// One test graph with outputs "logits" and "loss", and the values to run it with.
struct Case {
  /// Op and what the case tests, such as "conv2d.kernel_3x3"; letters, digits, '_' and '.'.
  std::string name;
  graph::Graph graph;
  /// Fixed values of inputs, parameters and state, by name, plain row-major. Values not listed are drawn at random.
  std::map<std::string, std::vector<float>> values;
  /// Parameters whose exact gradient is zero, so that an engine's gradient consists of rounding errors only.
  std::vector<std::string> zero_gradients;
};

#define RG_DECLARE_CASES(Kind) [[nodiscard]] std::vector<Case> cases_of(const graph::Kind& kind);
RG_OP_LIST(RG_DECLARE_CASES)
#undef RG_DECLARE_CASES

/// Networks of several ops: values with several readers, residual and dense blocks, stems and heads.
[[nodiscard]] std::vector<Case> network_cases();
/// A network of 5 to 20 random ops with random connections; equal seeds give equal networks. Not part of all_cases().
[[nodiscard]] Case random_case(std::uint64_t seed);
/// Cases of every op, in list order, then the networks.
[[nodiscard]] std::vector<Case> all_cases();

/// Builds a case. A test adds parameters before the op under test: their gradients show errors of the op's data
/// gradient. A linear layer and a loss after the op give each element of its output a different gradient.
class CaseBuilder {
 public:
  explicit CaseBuilder(const std::string& name);

  /// Adds the input "image" (N, C, H, W). Call it at most once.
  graph::NodeId image(const Shape& shape);
  /// Adds a 1x1 convolution of the image, without bias, named `name`. Adds an image (N, 3, H, W) if there is none.
  graph::NodeId upstream(const Shape& wanted, const std::string& name = "up");
  graph::NodeId add(std::string name, graph::Op op, const std::vector<graph::NodeId>& inputs);
  [[nodiscard]] const Shape& shape(graph::NodeId id) const { return builder_.shape(id); }
  void output(std::string name, graph::NodeId id) { builder_.output(std::move(name), id); }
  void value(const std::string& name, std::vector<float> values) { case_.values[name] = std::move(values); }
  void zero_gradient(std::string name) { case_.zero_gradients.push_back(std::move(name)); }

  /// Finishes the case with flatten, a linear layer with 3 outputs, and sigmoid cross-entropy with a mask.
  [[nodiscard]] Case finish(graph::NodeId last) &&;
  /// Finishes the case with another loss on logits (N, K); the caller sets the values of labels and mask.
  /// @param heads auxiliary logits, given to the loss as further inputs
  [[nodiscard]] Case finish_with_loss(graph::NodeId logits, graph::Op loss, const Shape& labels,
                                      const std::vector<graph::NodeId>& heads = {}) &&;

 private:
  Case case_;
  graph::Builder builder_;
  graph::NodeId image_ = -1;
};

/// Returns the case upstream(src), then `op`, then the nodes of finish().
[[nodiscard]] Case single_op_case(const std::string& name, graph::Op op, const Shape& src);
/// Returns `count` multi-label targets: mostly 0 or 1; one in five lies between them.
[[nodiscard]] std::vector<float> random_labels(std::int64_t count);
/// Returns `count` mask values: about one in four is 0, the rest is 1.
[[nodiscard]] std::vector<float> random_mask(std::int64_t count);

}  // namespace roentgen::engine::conformance
