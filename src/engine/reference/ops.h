// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forward and backward of every op in graph/op_list.h, in loops that follow the formulas in graph/ops line by line. If
// an op lacks these functions, linking fails.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "engine/reference/array.h"
#include "graph/graph.h"

namespace roentgen::engine::reference {

/// Inputs and outputs of one node. ReferenceRun owns all pointers; they are never null.
struct Scope {
  const graph::Node* node = nullptr;  ///< node to compute
  Form form = Form::Training;         ///< whether the step is training or inference
  /// Inputs of the node.
  std::vector<const Array*> src;
  /// Parameters and state, in the order of the op's shape rule. State has its values from before the step.
  std::vector<const Array*> parameters;
  /// Output of the node: forward writes it, backward reads it.
  Array* dst = nullptr;
  /// Running statistics after the step, parallel to `parameters`. Forward writes them.
  std::vector<Array*> new_state;
  /// Values that forward keeps for backward; their number and form depend on the op.
  std::vector<Array>* kept = nullptr;
  /// Mask of a dropout node: 1 keeps an element, 0 drops it.
  const Array* mask = nullptr;
  /// Distance to the nearest point where the derivative jumps, relative to the root mean square of the compared values.
  /// Forward lowers it.
  double* kink_margin = nullptr;
  /// Gradient of the output; set for backward only.
  const Array* diff_dst = nullptr;
  /// Gradients of `src`, parallel to it. Backward adds to them.
  std::vector<Array*> diff_src;
  std::vector<Array*> diff_parameters;  ///< gradients of `parameters`, parallel to them; backward adds to them
};

#define RG_DECLARE_REFERENCE(Kind)                   \
  void forward(const graph::Kind& op, Scope& scope); \
  void backward(const graph::Kind& op, Scope& scope);
RG_OP_LIST(RG_DECLARE_REFERENCE)
#undef RG_DECLARE_REFERENCE

/// Lowers `scope.kink_margin` to |distance| / rms after one comparison. Ignores a distance of exactly 0: it comes from
/// zeros and equal values upstream, which are exact in float as well.
void note_kink(Scope& scope, double distance, double rms);
/// Root mean square of all elements.
[[nodiscard]] double root_mean_square(const Array& values);

}  // namespace roentgen::engine::reference
