// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Every op of the list, forward and backward, by loops that follow the formulas in graph/ops line by line. An op
// without them does not link.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "engine/reference/array.h"
#include "graph/graph.h"

namespace roentgen::engine::reference {

/// Inputs and outputs of one node. ReferenceRun owns all pointers; they are never null.
struct Scope {
  const graph::Node* node = nullptr;  ///< node that is computed
  Form form = Form::Training;         ///< training or inference
  /// Inputs of the node.
  std::vector<const Array*> src;
  /// Parameters and state, in the order of the op's shape rule. State is what the step started with.
  std::vector<const Array*> parameters;
  /// Output of the node: written by forward, read by backward.
  Array* dst = nullptr;
  /// Running statistics after the step, parallel to `parameters`; written by forward.
  std::vector<Array*> new_state;
  /// Values that forward keeps for backward, in any form.
  std::vector<Array>* kept = nullptr;
  /// Dropout only: 1 = keep, 0 = drop.
  const Array* mask = nullptr;
  /// Distance to the nearest place where the derivative jumps, as a share of the root mean square of the values
  /// compared; forward lowers it.
  double* kink_margin = nullptr;
  /// Backward: gradient of the output.
  const Array* diff_dst = nullptr;
  /// Backward adds into these, parallel to `src` and to `parameters`.
  std::vector<Array*> diff_src;
  std::vector<Array*> diff_parameters;  ///< gradients of `parameters`, parallel to them
};

#define RG_DECLARE_REFERENCE(Kind)                   \
  void forward(const graph::Kind& op, Scope& scope); \
  void backward(const graph::Kind& op, Scope& scope);
RG_OP_LIST(RG_DECLARE_REFERENCE)
#undef RG_DECLARE_REFERENCE

/// Lowers `scope.kink_margin` to |distance| / rms for one comparison. A distance of exactly 0 comes from zeros and
/// equal values upstream, which are exact in float as well, and is no danger.
void note_kink(Scope& scope, double distance, double rms);
/// Root mean square of all elements.
[[nodiscard]] double root_mean_square(const Array& values);

}  // namespace roentgen::engine::reference
