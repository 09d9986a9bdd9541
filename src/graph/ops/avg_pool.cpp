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
  return pool_output("avg_pool", node, inputs[0], {.kernel = kernel, .stride = stride, .pad = pad});
}

Inferred GlobalAvgPool::infer(std::string_view node, std::span<const Shape> inputs) const {
  require_rank("global_avg_pool", node, inputs[0], 4);
  return {.output = {inputs[0][0], inputs[0][1], 1, 1}, .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
