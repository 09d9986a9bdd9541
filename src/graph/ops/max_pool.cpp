// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/max_pool.h"

#include "graph/ops/window.h"

namespace roentgen::graph {

void MaxPool::visit(AttributeVisitor& visitor) {
  visitor.extent("kernel", kernel, {2, 2});
  visitor.extent("stride", stride, {2, 2});
  visitor.extent("pad", pad, {0, 0});
  visitor.flag("ceil", is_ceil, false);
}

Inferred MaxPool::infer(std::string_view node, std::span<const Shape> inputs) const {
  return pool_output("max_pool", node, inputs[0], {.kernel = kernel, .stride = stride, .pad = pad, .is_ceil = is_ceil});
}

}  // namespace roentgen::graph
