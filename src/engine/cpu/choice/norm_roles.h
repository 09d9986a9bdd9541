// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Roles: which kernel computes each part of a batch norm in a training step. A part is computed by the batch norm
// itself, or by a neighbouring kernel that has the values in registers anyway. Roles are a pure function of the graph,
// the chosen algorithms and the enabled fusions. Lowering follows them, and `roentgen inspect --plan` prints them.
// Reasons: docs/design/engine_cpu.md.
#pragma once

#include <string>
#include <vector>

#include "engine/cpu/choice/conv_choices.h"
#include "engine/plan/layout.h"
#include "engine/plan/virtual_concats.h"
#include "graph/passes/pass_list.h"

namespace roentgen::engine::cpu {

/// Parts of one batch norm that other nodes compute. -1: the batch norm computes the part itself.
struct NormRole {
  /// True if the norm's input is a virtual concatenation or a piece of one: all readers of a piece share the piece's
  /// statistics.
  bool is_shared = false;
  /// Convolution before the norm that sums the moments while storing results (fusion norm_moments).
  graph::NodeId moments_by = -1;
  /// Convolution or max pooling after the norm that normalises its own input, so that the norm's result is never stored
  /// (fusion normalised_input).
  graph::NodeId result_by = -1;
  /// Convolution after the norm whose data gradient includes the norm's backward, so that the gradient of the norm's
  /// result is never stored (fusion norm_gradient).
  graph::NodeId gradient_by = -1;

  /// Text such as "statistics shared, result by denseblock1.denselayer1.conv1"; "own" if no other node computes a part.
  [[nodiscard]] std::string text(const graph::Graph& graph) const;
};

/// Roles of all batch norms of a graph.
class NormRoles {
 public:
  /// Roles in inference: a batch norm that is not folded into a convolution (fold_batch_norm) computes everything
  /// itself.
  explicit NormRoles(const graph::Graph& graph) : roles_(graph.nodes().size()) {}
  /// Roles in a training step.
  /// @param vector_layout layout of values in whole vectors of this machine, in the type that the step stores
  NormRoles(const graph::Graph& graph, const ConvChoices& choices, const graph::Fusions& fusions,
            const VirtualConcats& concats, Layout vector_layout);

  /// Role of a batch norm; default-constructed for other nodes.
  [[nodiscard]] const NormRole& of(graph::NodeId id) const { return roles_.at(static_cast<std::size_t>(id)); }

 private:
  std::vector<NormRole> roles_;
};

}  // namespace roentgen::engine::cpu
