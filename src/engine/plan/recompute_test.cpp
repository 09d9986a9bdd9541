// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/recompute.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "graph/builder.h"

namespace roentgen::engine {
namespace {
using graph::Builder;
using graph::NodeId;

graph::Conv2d conv() { return {.out_channels = 16, .kernel = {1, 1}, .bias = false}; }

// Stage of a residual network: one block with a projection, then `blocks` blocks without. Block i ends in "sum<i>".
graph::Graph stage(int blocks) {
  Builder b("stage");
  NodeId x = b.input("image", {2, 16, 4, 4});
  for (int i = 0; i <= blocks; ++i) {
    const std::string n = std::to_string(i);
    NodeId residual = x;
    NodeId y = b.add("conv_a" + n, conv(), {x});
    y = b.add("norm_a" + n, graph::BatchNorm{.relu = true}, {y});
    y = b.add("conv_b" + n, conv(), {y});
    if (i == 0) {
      residual = b.add("conv_down", conv(), {x});
      residual = b.add("norm_down", graph::BatchNorm{}, {residual});
    }
    x = b.add("sum" + n, graph::BatchNorm{.relu = true}, {y, residual});
  }
  x = b.add("pool", graph::GlobalAvgPool{}, {x});
  b.output("logits", b.add("flat", graph::Flatten{}, {x}));
  return std::move(b).build();
}

Source of(const graph::Graph& graph, const std::vector<Source>& sources, const std::string& name) {
  return sources.at(static_cast<std::size_t>(graph.find(name)));
}

TEST(Recompute, none_keeps_everything) {
  for (const Source source : sources_in_backward(stage(3), "none")) EXPECT_EQ(source, Source::Kept);
}

TEST(Recompute, auto_drops_every_second_sum_and_what_convolutions_alone_read) {
  const graph::Graph graph = stage(3);
  const auto sources = sources_in_backward(graph, "auto");
  for (const char* name : {"norm_a0", "norm_a1", "norm_a3", "sum1", "sum3"}) {
    EXPECT_EQ(of(graph, sources, name), Source::Backward) << name;
  }
  // Nothing else keeps the residual of the first sum. The fourth sum is recomputed from the third.
  for (const char* name : {"norm_down", "sum0", "sum2", "conv_a0", "conv_b2", "pool"}) {
    EXPECT_EQ(of(graph, sources, name), Source::Kept) << name;
  }
}

TEST(Recompute, all_drops_whole_chains_whose_links_come_on_demand) {
  const graph::Graph graph = stage(3);
  const auto sources = sources_in_backward(graph, "all");
  for (const char* name : {"norm_down", "sum0", "sum1", "sum2"}) {
    EXPECT_EQ(of(graph, sources, name), Source::OnDemand) << name;
  }
  for (const char* name : {"norm_a0", "sum3"}) EXPECT_EQ(of(graph, sources, name), Source::Backward) << name;
  EXPECT_EQ(of(graph, sources, "conv_b3"), Source::Kept);
}

TEST(Recompute, what_a_batch_norm_reads_or_an_output_names_is_kept) {
  Builder b("kept");
  const NodeId image = b.input("image", {2, 16, 4, 4});
  const NodeId read = b.add("read", graph::BatchNorm{.relu = true}, {image});
  const NodeId named = b.add("named", graph::BatchNorm{.relu = true}, {image});
  const NodeId next = b.add("next", graph::BatchNorm{}, {read});
  const NodeId sum = b.add("sum", graph::Add{}, {b.add("conv0", conv(), {read}), b.add("conv1", conv(), {named})});
  b.output("features", named);
  b.output("logits", b.add("last", graph::Add{}, {sum, next}));
  const graph::Graph graph = std::move(b).build();
  for (const char* recompute : {"auto", "all"}) {
    const auto sources = sources_in_backward(graph, recompute);
    for (const char* name : {"read", "named"}) EXPECT_EQ(of(graph, sources, name), Source::Kept) << name;
  }
}

TEST(Recompute, all_drops_a_concatenation_of_what_is_dropped) {
  Builder b("branches");
  const NodeId image = b.input("image", {2, 16, 4, 4});
  const NodeId first = b.add("first", graph::BatchNorm{.relu = true}, {b.add("conv0", conv(), {image})});
  const NodeId second = b.add("second", graph::BatchNorm{.relu = true}, {b.add("conv1", conv(), {image})});
  const NodeId joined = b.add("joined", graph::Concat{}, {first, second});
  b.output("logits", b.add("conv2", conv(), {joined}));
  const graph::Graph graph = std::move(b).build();
  EXPECT_EQ(of(graph, sources_in_backward(graph, "auto"), "joined"), Source::Kept);
  const auto sources = sources_in_backward(graph, "all");
  for (const char* name : {"first", "second", "joined"}) EXPECT_EQ(of(graph, sources, name), Source::OnDemand) << name;
}

TEST(Recompute, an_unknown_word_is_refused) {
  EXPECT_THROW(static_cast<void>(sources_in_backward(stage(1), "some")), ConfigError);
}

}  // namespace
}  // namespace roentgen::engine
