// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interface of an op in the graph: a struct of attributes, a shape rule, and the tensors that backward keeps. No
// kernels, no buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "graph/parameter.h"

namespace roentgen::graph {

/// Result of an op's shape rule: the output's shape, the parameters the op owns, and what one forward costs.
struct Inferred {
  Shape output;  ///< shape of the op's value
  /// Names are relative to the node's ("weight"); the graph prefixes them.
  std::vector<Parameter> parameters;
  /// Multiply-adds of one forward pass over the whole batch.
  std::int64_t multiply_adds = 0;
};

/// Values of the forward that an op's backward reads, so that the engine keeps them.
struct Keeps {
  bool inputs = false;  ///< whether the inputs are needed
  bool output = false;  ///< whether the output is needed
};

/// Static description of an op kind, one per line of op_list.h.
struct OpInfo {
  /// Name in graph text: "conv2d".
  std::string_view name;
  int inputs_min = 1;  ///< fewest inputs
  int inputs_max = 1;  ///< most inputs
  Keeps keeps{};       ///< values that backward reads
};

}  // namespace roentgen::graph
