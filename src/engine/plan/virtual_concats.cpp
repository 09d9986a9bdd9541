// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/virtual_concats.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "graph/passes/rewrite.h"

namespace roentgen::engine {

VirtualConcats::VirtualConcats(const graph::Graph& graph, int channel_block)
    : is_virtual_(graph.nodes().size()), is_piece_(graph.nodes().size()), pieces_(graph.nodes().size()) {
  const std::vector<std::vector<graph::NodeId>> readers = graph.consumers();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto id = static_cast<graph::NodeId>(i);
    const graph::Node& node = graph.nodes()[i];
    const auto* concat = std::get_if<graph::Concat>(&node.op);
    const bool can_be_virtual = concat != nullptr && concat->is_virtual && !graph::is_output(graph, id) &&
                                std::ranges::all_of(readers[i], [&](graph::NodeId reader) {
                                  const graph::Node& norm = graph.node(reader);
                                  return std::holds_alternative<graph::BatchNorm>(norm.op) && norm.inputs.size() == 1;
                                });
    std::vector<graph::NodeId> joined;
    for (const graph::NodeId input : node.inputs) {
      joined.insert(joined.end(), pieces(input).begin(), pieces(input).end());
    }
    std::vector<graph::NodeId> sorted = joined;
    std::ranges::sort(sorted);
    const bool are_distinct = std::ranges::adjacent_find(sorted) == sorted.end();
    is_virtual_[i] = can_be_virtual && are_distinct && std::ranges::all_of(joined, [&](graph::NodeId piece) {
                       return graph.node(piece).shape[1] % channel_block == 0;
                     });
    if (is_virtual_[i]) {
      for (const graph::NodeId piece : joined) is_piece_[static_cast<std::size_t>(piece)] = true;
      pieces_[i] = std::move(joined);
    } else {
      pieces_[i] = {id};
    }
  }
}

}  // namespace roentgen::engine
