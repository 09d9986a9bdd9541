// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The graphs every engine is checked with: for each op of the list its own, and small networks. A new op adds
// `cases_of()` to one of the *_cases.cpp files here; without it nothing links.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"

namespace roentgen::engine::conformance {

/// One graph with outputs "logits" and "loss", and the values it is run with.
struct Case {
  /// "conv2d.kernel_3x3": op and what is special; letters, digits, '_' and '.'.
  std::string name;
  graph::Graph graph;
  /// Inputs, parameters and state with given values, plain row-major, by name. All others are drawn at random.
  std::map<std::string, std::vector<float>> values;
  /// Parameters whose gradient is zero for all values, so that only rounding is left of it.
  std::vector<std::string> zero_gradients;
};

#define RG_DECLARE_CASES(Kind) [[nodiscard]] std::vector<Case> cases_of(const graph::Kind& kind);
RG_OP_LIST(RG_DECLARE_CASES)
#undef RG_DECLARE_CASES

/// Networks of several ops: values read by many, residual and dense blocks, stems and heads.
[[nodiscard]] std::vector<Case> network_cases();
/// A network of 5 to 20 random ops with random readers; the same for the same seed. Not among all_cases().
[[nodiscard]] Case random_case(std::uint64_t seed);
/// The cases of every op, in list order, then the networks.
[[nodiscard]] std::vector<Case> all_cases();

/// Builds a case. Parameters before the op under test make its data gradient visible in theirs. A linear layer with a
/// loss after it gives every element of its output a gradient of its own.
class CaseBuilder {
 public:
  explicit CaseBuilder(const std::string& name);

  /// Input "image" (N, C, H, W); once per case.
  graph::NodeId image(const Shape& shape);
  /// A 1x1 convolution without bias, named `name`, of the image; makes an image (N, 3, H, W) if there is none.
  graph::NodeId upstream(const Shape& wanted, const std::string& name = "up");
  graph::NodeId add(std::string name, graph::Op op, const std::vector<graph::NodeId>& inputs);
  [[nodiscard]] const Shape& shape(graph::NodeId id) const { return builder_.shape(id); }
  void output(std::string name, graph::NodeId id) { builder_.output(std::move(name), id); }
  void value(const std::string& name, std::vector<float> values) { case_.values[name] = std::move(values); }
  void zero_gradient(std::string name) { case_.zero_gradients.push_back(std::move(name)); }

  /// flatten, linear with 3 outputs, sigmoid cross-entropy with a mask.
  [[nodiscard]] Case finish(graph::NodeId last) &&;
  /// Finishes the case with another loss on logits (N, K); the caller sets the values of labels and mask.
  /// @param heads auxiliary logits, further inputs of the loss
  [[nodiscard]] Case finish_with_loss(graph::NodeId logits, graph::Op loss, const Shape& labels,
                                      const std::vector<graph::NodeId>& heads = {}) &&;

 private:
  Case case_;
  graph::Builder builder_;
  graph::NodeId image_ = -1;
};

/// upstream(src) -> op -> finish.
[[nodiscard]] Case single_op_case(const std::string& name, graph::Op op, const Shape& src);
/// `count` values drawn from 0, 1 and, one in five, something between: multi-label targets.
[[nodiscard]] std::vector<float> random_labels(std::int64_t count);
/// `count` values, one in four 0 and the others 1.
[[nodiscard]] std::vector<float> random_mask(std::int64_t count);

}  // namespace roentgen::engine::conformance
