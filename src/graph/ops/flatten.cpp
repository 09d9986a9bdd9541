// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/flatten.h"

namespace roentgen::graph {

Inferred Flatten::infer(std::string_view, std::span<const Shape> inputs) const {
  const Shape& src = inputs[0];
  return {.output = {src[0], src.elements() / src[0]}, .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
