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

/// Result of an op's shape inference: output shape, parameters, and cost of a forward pass.
struct Inferred {
  Shape output;  ///< shape of the output value
  /// Parameters of the op. Names are relative to the node ("weight"); the graph adds the node's name in front.
  std::vector<Parameter> parameters;
  /// Multiply-adds of one forward pass over the whole batch.
  std::int64_t multiply_adds = 0;
};

/// Values of the forward pass that the op's backward pass reads. The engine must keep them.
struct Keeps {
  bool inputs = false;  ///< whether the inputs are needed
  bool output = false;  ///< whether the output is needed
};

/// Static description of a kind of op. Every kind of op has one line in op_list.h.
struct OpInfo {
  /// Name in graph text, such as "conv2d".
  std::string_view name;
  int inputs_min = 1;  ///< smallest number of inputs
  int inputs_max = 1;  ///< largest number of inputs
  Keeps keeps{};       ///< values that the backward pass reads
};

}  // namespace roentgen::graph
