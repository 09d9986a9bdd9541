// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Concatenations that are never stored: their readers read the inputs of the concatenation instead (DenseNet).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace roentgen::engine {

/// Virtual concatenations of one graph. Immutable; thread-safe.
class VirtualConcats {
 public:
  /// @param channel_block number of channels that kernels process together
  VirtualConcats(const graph::Graph& graph, int channel_block);

  /// True if the concatenation is not stored. The graph must allow it (virtual_concat), and only batch norms without a
  /// residual may read it. Its inputs must be distinct, each with a multiple of `channel_block` channels.
  [[nodiscard]] bool is_virtual(graph::NodeId id) const { return is_virtual_.at(static_cast<std::size_t>(id)); }
  /// Stored values that make up a value, in order: the value itself, or the inputs of a virtual concatenation.
  [[nodiscard]] const std::vector<graph::NodeId>& pieces(graph::NodeId id) const {
    return pieces_.at(static_cast<std::size_t>(id));
  }
  /// True for an input of a virtual concatenation. The batch norms that read the concatenation share its statistics.
  [[nodiscard]] bool is_piece(graph::NodeId id) const { return is_piece_.at(static_cast<std::size_t>(id)); }

 private:
  std::vector<bool> is_virtual_;
  std::vector<bool> is_piece_;
  std::vector<std::vector<graph::NodeId>> pieces_;
};

}  // namespace roentgen::engine
