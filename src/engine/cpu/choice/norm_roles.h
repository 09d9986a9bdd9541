// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Roles in a batch norm's training. The batch norm computes each part itself, or a kernel around it does that has the
// values in registers anyway. Roles are a pure function of the graph, its choices of algorithms and the fusions that
// are on. Lowering obeys them, and `roentgen inspect --plan` prints them. Why: docs/engine.md.
#pragma once

#include <string>
#include <vector>

#include "engine/cpu/choice/conv_choices.h"
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

/// Roles in one graph, and the virtual concatenations that they follow from.
class NormRoles {
 public:
  /// Roles in a training step. `vector_block`: channels that one vector of this machine holds; `dtype`: type of stored
  /// values.
  NormRoles(const graph::Graph& graph, const ConvChoices& choices, const graph::Fusions& fusions, int vector_block,
            DType dtype);
  /// Roles in inference: each batch norm that no convolution took in (fold_batch_norm) computes all itself.
  NormRoles(const graph::Graph& graph, int vector_block);

  /// Role of a batch norm; the default for other nodes.
  [[nodiscard]] const NormRole& of(graph::NodeId id) const { return roles_.at(static_cast<std::size_t>(id)); }
  /// True for a concatenation that is stored nowhere: the graph allows it (virtual_concat), only batch norms without a
  /// residual read it, and every piece has whole blocks of channels.
  [[nodiscard]] bool is_virtual(graph::NodeId id) const { return is_virtual_.at(static_cast<std::size_t>(id)); }
  /// The stored values a value consists of, in order: itself, or those of a virtual concatenation's inputs.
  [[nodiscard]] const std::vector<graph::NodeId>& pieces(graph::NodeId id) const {
    return pieces_.at(static_cast<std::size_t>(id));
  }
  /// True for a piece of a virtual concatenation: batch norms share its statistics.
  [[nodiscard]] bool is_piece(graph::NodeId id) const { return is_piece_.at(static_cast<std::size_t>(id)); }

 private:
  std::vector<NormRole> roles_;
  std::vector<bool> is_virtual_;
  std::vector<bool> is_piece_;
  std::vector<std::vector<graph::NodeId>> pieces_;
};

}  // namespace roentgen::engine::cpu
