// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/virtual_concats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/builder.h"

namespace roentgen::engine {
namespace {
using graph::Builder;
using graph::NodeId;

// Dense block of two layers, where each layer reads all previous features.
graph::Graph dense(std::int64_t channels, bool has_other_reader) {
  Builder b("dense");
  const graph::Conv2d conv{.out_channels = channels, .kernel = {1, 1}};
  std::vector<NodeId> features{b.add("first", conv, {b.input("image", {2, 3, 4, 4})})};
  NodeId x = features[0];
  for (const std::string name : {"a", "b"}) {
    features.push_back(b.add("conv_" + name, conv, {b.add("norm_" + name, graph::BatchNorm{}, {x})}));
    x = b.add("join_" + name, graph::Concat{.is_virtual = true}, features);
  }
  const NodeId last = b.add("last", graph::BatchNorm{}, {x});
  b.output("features", has_other_reader ? b.add("sum", graph::Add{}, {last, b.add("relu", graph::Relu{}, {x})}) : last);
  return std::move(b).build();
}

TEST(VirtualConcats, consist_of_the_pieces_of_their_inputs) {
  const graph::Graph graph = dense(16, false);
  const VirtualConcats concats(graph, 8);
  const NodeId join = graph.find("join_b");
  EXPECT_TRUE(concats.is_virtual(join));
  EXPECT_EQ(concats.pieces(join),
            (std::vector<NodeId>{graph.find("first"), graph.find("conv_a"), graph.find("conv_b")}));
  EXPECT_TRUE(concats.is_piece(graph.find("conv_b")));
  EXPECT_EQ(concats.pieces(graph.find("last")), std::vector<NodeId>{graph.find("last")});
}

TEST(VirtualConcats, are_stored_where_a_piece_has_no_whole_blocks_or_others_read_them) {
  for (const graph::Graph& graph : {dense(20, false), dense(16, true)}) {
    const VirtualConcats concats(graph, 8);
    const NodeId join = graph.find("join_b");
    EXPECT_FALSE(concats.is_virtual(join));
    EXPECT_EQ(concats.pieces(join), std::vector<NodeId>{join});
  }
}

TEST(VirtualConcats, are_stored_where_a_piece_comes_twice) {
  for (const bool is_twice : {false, true}) {
    Builder b("twice");
    const graph::Conv2d conv{.out_channels = 8, .kernel = {1, 1}};
    const NodeId image = b.input("image", {2, 3, 4, 4});
    const NodeId one = b.add("one", conv, {image}), other = b.add("other", conv, {image});
    const NodeId join = b.add("join", graph::Concat{.is_virtual = true}, {one, other, is_twice ? one : image});
    b.output("features", b.add("last", graph::BatchNorm{}, {join}));
    const graph::Graph graph = std::move(b).build();
    EXPECT_EQ(VirtualConcats(graph, 1).is_virtual(join), !is_twice);
  }
}

}  // namespace
}  // namespace roentgen::engine
