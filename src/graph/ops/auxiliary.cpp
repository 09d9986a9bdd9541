// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/auxiliary.h"

#include <cmath>
#include <string>

#include "graph/ops/window.h"

namespace roentgen::graph {

void Auxiliary::visit(AttributeVisitor& visitor) { visitor.number("weight", weight, 0.3); }

Inferred Auxiliary::infer(std::string_view node, std::span<const Shape> inputs) const {
  require_rank("auxiliary", node, inputs[0], 2);
  if (!(weight >= 0.0) || !std::isfinite(weight)) {
    throw ShapeError(error_text("graph.auxiliary", node, "a loss weight of at least 0", std::to_string(weight)));
  }
  return {.output = inputs[0], .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
