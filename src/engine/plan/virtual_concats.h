// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Concatenations that are stored nowhere, since all who read them find the pieces where these lie (DenseNet).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace roentgen::engine {

/// Virtual concatenations of one graph. Immutable; thread-safe.
class VirtualConcats {
 public:
  /// `channel_block`: channels that kernels work on at a time.
  VirtualConcats(const graph::Graph& graph, int channel_block);

  /// True for a concatenation that is stored nowhere. The graph allows it (virtual_concat), and only batch norms
  /// without a residual read it. Its pieces differ and have whole blocks of channels.
  [[nodiscard]] bool is_virtual(graph::NodeId id) const { return is_virtual_.at(static_cast<std::size_t>(id)); }
  /// Stored values that a value consists of, in order: itself, or the inputs of a virtual concatenation.
  [[nodiscard]] const std::vector<graph::NodeId>& pieces(graph::NodeId id) const {
    return pieces_.at(static_cast<std::size_t>(id));
  }
  /// True for a piece of a virtual concatenation: batch norms share its statistics.
  [[nodiscard]] bool is_piece(graph::NodeId id) const { return is_piece_.at(static_cast<std::size_t>(id)); }

 private:
  std::vector<bool> is_virtual_;
  std::vector<bool> is_piece_;
  std::vector<std::vector<graph::NodeId>> pieces_;
};

}  // namespace roentgen::engine
