// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/batch_norm.h"

#include "graph/ops/window.h"

namespace roentgen::graph {

void BatchNorm::visit(AttributeVisitor& visitor) {
  visitor.number("epsilon", epsilon, 1e-5);
  visitor.number("momentum", momentum, 0.1);
  visitor.flag("relu", relu, false);
  visitor.flag("folded", folded, false);
}

Inferred BatchNorm::infer(std::string_view node, std::span<const Shape> inputs) const {
  const Shape& src = inputs[0];
  require_rank("batch_norm", node, src, 4);
  if (inputs.size() == 2 && inputs[1] != src) {
    throw ShapeError(error_text("graph.batch_norm", node, "a residual input of shape " + src.text(), inputs[1].text()));
  }
  if (!(epsilon > 0.0) || momentum < 0.0 || momentum > 1.0) {
    throw ShapeError(error_text("graph.batch_norm", node, "epsilon > 0 and momentum in [0, 1]",
                                "epsilon " + std::to_string(epsilon) + ", momentum " + std::to_string(momentum)));
  }
  const Shape channels{src[1]};
  Inferred inferred;
  inferred.output = src;
  inferred.parameters = {{"weight", channels, Role::NormScale, {Init::Kind::Constant, 1.0}},
                         {"bias", channels, Role::NormShift, {Init::Kind::Constant, 0.0}},
                         {"running_mean", channels, Role::RunningMean, {Init::Kind::Constant, 0.0}},
                         {"running_var", channels, Role::RunningVariance, {Init::Kind::Constant, 1.0}}};
  return inferred;
}

}  // namespace roentgen::graph
