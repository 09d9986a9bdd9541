// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Roles in a batch norm's training. The batch norm computes each part itself, or a kernel around it does that has the
// values in registers anyway. Roles are a pure function of the graph, its choices of algorithms and the fusions that
// are on. Lowering obeys them, and `roentgen inspect --plan` prints them. Why: docs/design/engine_cpu.md.
#pragma once

#include <string>
#include <vector>

#include "engine/cpu/choice/conv_choices.h"
#include "engine/plan/layout.h"
#include "engine/plan/virtual_concats.h"
#include "graph/passes/pass_list.h"

namespace roentgen::engine::cpu {

/// Parts of one batch norm that others compute. -1: the batch norm itself.
struct NormRole {
  /// Its statistics are those of pieces of a virtual concatenation, which all who read a piece share.
  bool is_shared = false;
  /// The convolution before it that adds up its moments while it stores results (fusion norm_moments).
  graph::NodeId moments_by = -1;
  /// The convolution or max pooling behind it that normalises what it reads: the result is stored nowhere
  /// (normalised_input).
  graph::NodeId result_by = -1;
  /// The convolution behind it whose data gradient does its backward: the gradient that comes to it is stored nowhere
  /// (norm_gradient).
  graph::NodeId gradient_by = -1;

  /// "statistics shared, result by denseblock1.denselayer1.conv1"; "own" without any.
  [[nodiscard]] std::string text(const graph::Graph& graph) const;
};

/// Roles of the batch norms of one graph.
class NormRoles {
 public:
  /// Roles in inference: each batch norm that no convolution took in (fold_batch_norm) computes all itself.
  explicit NormRoles(const graph::Graph& graph) : roles_(graph.nodes().size()) {}
  /// Roles in a training step. `vector_layout`: of values in vectors of this machine, as the step stores them.
  NormRoles(const graph::Graph& graph, const ConvChoices& choices, const graph::Fusions& fusions,
            const VirtualConcats& concats, Layout vector_layout);

  /// Role of a batch norm; the default for other nodes.
  [[nodiscard]] const NormRole& of(graph::NodeId id) const { return roles_.at(static_cast<std::size_t>(id)); }

 private:
  std::vector<NormRole> roles_;
};

}  // namespace roentgen::engine::cpu
