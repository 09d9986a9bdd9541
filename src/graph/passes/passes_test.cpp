// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests which passes and fusions a choice enables. The tests of engine/reference show that passes keep the results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "graph/builder.h"
#include "graph/passes/pass_list.h"

namespace roentgen::graph {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Graph with relu(norm(conv(x))) twice, where a residual is added after the second norm.
Graph two_layers() {
  Builder b("two_layers");
  const auto layer = [&](const std::string& name, NodeId from) {
    return b.add(name + "_norm", BatchNorm{}, {b.add(name, Conv2d{.out_channels = 4, .bias = false}, {from})});
  };
  const NodeId image = b.input("image", {2, 3, 5, 5});
  const NodeId first = b.add("first_relu", Relu{}, {layer("first", image)});
  b.output("logits", b.add("relu", Relu{}, {b.add("sum", Add{}, {layer("second", first), first})}));
  return std::move(b).build();
}

TEST(Passes, their_effects_are_the_nodes_that_they_change) {
  const Graph graph = two_layers();
  EXPECT_THAT(pass_effects(graph, "on", Purpose::Training),
              ElementsAre(Pair("batch_norm_add_relu", 1), Pair("batch_norm_relu", 1)));
  EXPECT_THAT(pass_effects(graph, "on,-batch_norm_add_relu", Purpose::Training),
              ElementsAre(Pair("batch_norm_relu", 1)));
  EXPECT_THAT(pass_effects(graph, "batch_norm_add_relu", Purpose::Training),
              ElementsAre(Pair("batch_norm_add_relu", 1)));
  EXPECT_THAT(pass_effects(graph, "off", Purpose::Training), ElementsAre());
}

TEST(Passes, all_but_some_are_all_named_but_those) {
  std::string named;
  for (const std::string_view name : pass_names()) {
    if (name != "batch_norm_relu") named.append(named.empty() ? "" : ",").append(name);
  }
  const Graph graph = two_layers();
  for (const Purpose purpose : {Purpose::Training, Purpose::Inference}) {
    EXPECT_TRUE(run_passes(graph, "on,-batch_norm_relu", purpose) == run_passes(graph, named, purpose));
    EXPECT_FALSE(run_passes(graph, "on,-batch_norm_relu", purpose) == run_passes(graph, "on", purpose));
  }
}

TEST(Passes, fusions_follow_the_same_choice_and_are_of_training) {
  EXPECT_EQ(fusions_of("off", Purpose::Training), Fusions{});
  EXPECT_EQ(fusions_of("virtual_concat", Purpose::Training), Fusions{});
  EXPECT_EQ(fusions_of("virtual_concat,norm_moments", Purpose::Training), Fusions{.norm_moments = true});
  Fusions all = fusions_of("on", Purpose::Training);
  EXPECT_EQ(all, (Fusions{.normalised_input = true, .norm_moments = true, .norm_gradient = true}));
  all.norm_moments = false;
  EXPECT_EQ(fusions_of("on,-norm_moments,-virtual_concat", Purpose::Training), all);
  EXPECT_EQ(fusions_of("on", Purpose::Inference), Fusions{});
}

TEST(Passes, refuse_what_is_no_choice_with_the_names_that_there_are) {
  for (const char* choice :
       {"", "on,", "virtual_concat,", "off,", "foo", "on,foo", "on,virtual_concat", "on,-foo", "on,-",
        "-virtual_concat", "off,on", "virtual_concat,-norm_moments", "virtual_concat,,norm_moments"}) {
    try {
      check_passes(choice);
      ADD_FAILURE() << choice << " was taken";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("or on,-NAME (all but NAME); the names are batch_norm_add_relu")) << choice;
      EXPECT_THAT(error.what(), HasSubstr("norm_gradient")) << choice;
    }
  }
}

}  // namespace
}  // namespace roentgen::graph
