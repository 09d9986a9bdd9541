// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/concat.h"

#include "graph/ops/window.h"

namespace roentgen::graph {

void Concat::visit(AttributeVisitor& visitor) { visitor.flag("virtual", is_virtual, false); }

Inferred Concat::infer(std::string_view node, std::span<const Shape> inputs) const {
  Shape out = inputs[0];
  require_rank("concat", node, out, 4);
  for (const Shape& shape : inputs.subspan(1)) {
    require_rank("concat", node, shape, 4);
    if (shape[0] != out[0] || shape[2] != out[2] || shape[3] != out[3]) {
      throw ShapeError(error_text("graph.concat", node, "inputs whose shapes differ in channels only",
                                  inputs[0].text() + " and " + shape.text()));
    }
    out[1] += shape[1];
  }
  return {.output = out, .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
