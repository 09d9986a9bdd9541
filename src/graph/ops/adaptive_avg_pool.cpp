// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/adaptive_avg_pool.h"

#include <string>

#include "graph/ops/window.h"

namespace roentgen::graph {

void AdaptiveAvgPool::visit(AttributeVisitor& visitor) { visitor.extent("out", out, {1, 1}); }

Inferred AdaptiveAvgPool::infer(std::string_view node, std::span<const Shape> inputs) const {
  require_rank("adaptive_avg_pool", node, inputs[0], 4);
  if (out.height < 1 || out.width < 1) {
    throw ShapeError(error_text("graph.adaptive_avg_pool", node, "an output size of at least 1x1",
                                std::to_string(out.height) + "x" + std::to_string(out.width)));
  }
  return {.output = {inputs[0][0], inputs[0][1], out.height, out.width}, .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
