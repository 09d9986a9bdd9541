// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/add.h"

#include "core/error.h"

namespace roentgen::graph {

Inferred Add::infer(std::string_view node, std::span<const Shape> inputs) const {
  if (inputs[0] != inputs[1]) {
    throw ShapeError(
        error_text("graph.add", node, "two inputs of the same shape", inputs[0].text() + " and " + inputs[1].text()));
  }
  return {.output = inputs[0], .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
