// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/linear.h"

#include "graph/ops/window.h"

namespace roentgen::graph {

void Linear::visit(AttributeVisitor& visitor) {
  visitor.integer("out", out_features, 0);
  visitor.flag("bias", bias, true);
  visitor.init("init", weight_init, Init{Init::Kind::UniformFanIn});
  visitor.init("bias_init", bias_init, Init{Init::Kind::UniformFanIn});
}

Inferred Linear::infer(std::string_view node, std::span<const Shape> inputs) const {
  const Shape& src = inputs[0];
  require_rank("linear", node, src, 2);
  if (out_features < 1) {
    throw ShapeError(error_text("graph.linear", node, "at least one output feature", std::to_string(out_features)));
  }
  Inferred inferred;
  inferred.output = Shape{src[0], out_features};
  inferred.parameters.push_back({"weight", {out_features, src[1]}, Role::Weight, weight_init});
  if (bias) {
    Init init = bias_init;
    if (init.kind == Init::Kind::UniformFanIn) init.fan_in = src[1];
    inferred.parameters.push_back({"bias", {out_features}, Role::Bias, init});
  }
  inferred.multiply_adds = src[0] * src[1] * out_features;
  return inferred;
}

}  // namespace roentgen::graph
