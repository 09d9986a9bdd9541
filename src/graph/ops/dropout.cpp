// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/dropout.h"

#include "core/error.h"

namespace roentgen::graph {

void Dropout::visit(AttributeVisitor& visitor) { visitor.number("p", probability, 0.5); }

Inferred Dropout::infer(std::string_view node, std::span<const Shape> inputs) const {
  if (!(probability >= 0.0 && probability < 1.0)) {
    throw ShapeError(error_text("graph.dropout", node, "a probability p in [0, 1)", std::to_string(probability)));
  }
  return {.output = inputs[0], .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
