// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/avg_pool.h"

#include "graph/ops/window.h"

namespace roentgen::graph {

void AvgPool::visit(AttributeVisitor& visitor) {
  visitor.extent("kernel", kernel, {2, 2});
  visitor.extent("stride", stride, {2, 2});
  visitor.extent("pad", pad, {0, 0});
  visitor.flag("count_pad", count_pad, true);
}

Inferred AvgPool::infer(std::string_view node, std::span<const Shape> inputs) const {
  require_rank("avg_pool", node, inputs[0], 4);
  if (2 * pad.height > kernel.height || 2 * pad.width > kernel.width) {
    throw ShapeError(error_text("graph.avg_pool", node, "padding of at most half the kernel",
                                std::to_string(pad.height) + "x" + std::to_string(pad.width)));
  }
  const Extent out = window_output("avg_pool", node, inputs[0], {.kernel = kernel, .stride = stride, .pad = pad});
  return {.output = {inputs[0][0], inputs[0][1], out.height, out.width}, .parameters = {}, .multiply_adds = 0};
}

Inferred GlobalAvgPool::infer(std::string_view node, std::span<const Shape> inputs) const {
  require_rank("global_avg_pool", node, inputs[0], 4);
  return {.output = {inputs[0][0], inputs[0][1], 1, 1}, .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
