// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/norm_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/residual_blocks_testing.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"
#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::engine::cpu {
namespace {
using graph::Builder;
using graph::NodeId;
using testing::Each;
using testing::Pair;

// A dense block of two layers on `channels` channels, each with a 1x1 convolution that alone reads its first batch
// norm, and with a 3x3 one that alone reads its second.
graph::Graph dense_block(std::int64_t channels) {
  Builder b("dense_block");
  const auto conv = [](std::int64_t out, std::int64_t side) {
    return graph::Conv2d{.out_channels = out, .kernel = {side, side}, .pad = {side / 2, side / 2}, .bias = false};
  };
  NodeId all = b.add("stem", conv(channels, 3), {b.input("image", {2, 3, 9, 7})});
  std::vector<NodeId> features{all};
  for (const std::string layer : {"1", "2"}) {
    NodeId x = b.add("norm_a" + layer, graph::BatchNorm{.relu = true}, {all});
    x = b.add("narrow" + layer, conv(32, 1), {x});
    x = b.add("norm_b" + layer, graph::BatchNorm{.relu = true}, {x});
    features.push_back(b.add("wide" + layer, conv(16, 3), {x}));
    all = b.add("all" + layer, graph::Concat{}, features);
  }
  NodeId x = b.add("last", graph::BatchNorm{.relu = true}, {all});
  x = b.add("flat", graph::Flatten{}, {b.add("pool", graph::GlobalAvgPool{}, {x})});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

std::map<std::string, std::string> roles(const graph::Graph& graph, const std::string& algorithms,
                                         const std::string& fuse = "on") {
  return make_plan(graph, {.threads = 1, .slots = 1, .fuse = fuse, .algorithms = algorithms}).norm_roles;
}

TEST(NormRoles, of_pointwise_kernels_in_a_dense_block) {
  if (!simd::has_avx512()) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  const std::map<std::string, std::string> expected{
      // 1x1: forward, data and weight gradient by products.
      {"norm_a1", "statistics shared, result by narrow1, gradient by narrow1"},
      {"norm_a2", "statistics shared, result by narrow2, gradient by narrow2"},
      // The 3x3 behind it is direct, the 1x1 before it adds up.
      {"norm_b1", "moments by narrow1"},
      {"norm_b2", "moments by narrow2"},
      {"last", "statistics shared"}};
  EXPECT_EQ(roles(dense_block(32), "pointwise"), expected);
}

TEST(NormRoles, follow_the_fusions_that_are_on) {
  if (!simd::has_avx512()) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  const auto role = [](const std::string& fuse, const std::string& norm) {
    return roles(dense_block(32), "pointwise", fuse).at(norm);
  };
  EXPECT_EQ(role("on,-norm_gradient", "norm_a1"), "statistics shared, result by narrow1");
  // The gradient goes with the result: the mask is computed from what the norm reads.
  EXPECT_EQ(role("on,-normalised_input", "norm_a1"), "statistics shared");
  EXPECT_EQ(role("on,-norm_moments", "norm_b1"), "own");
  EXPECT_EQ(role("batch_norm_relu", "norm_a1"), "own");
}

TEST(NormRoles, of_winograd_are_the_result_alone) {
  std::map<std::string, std::string> of_norms = roles(dense_block(32), "winograd");
  EXPECT_EQ(of_norms.at("norm_a1"), "statistics shared") << "direct's 1x1";
  EXPECT_EQ(of_norms.at("norm_b1"), "result by wide1");
}

TEST(NormRoles, are_the_norm_s_own_around_direct_convolutions) {
  EXPECT_THAT(roles(residual_blocks(), "direct"), Each(Pair(testing::_, "own")));
}

TEST(NormRoles, of_channels_in_no_whole_blocks_share_and_hand_over_nothing) {
  for (const auto& [name, role] : roles(dense_block(20), "winograd")) {
    EXPECT_EQ(role.find("shared"), std::string::npos) << name;
  }
}

TEST(NormRoles, are_none_in_inference) {
  EXPECT_TRUE(make_plan(residual_blocks(), {.form = Form::Inference, .threads = 1}).norm_roles.empty());
}

// Plans have a result, moments or a gradient of a norm in a convolution as often as roles say so.
TEST(NormRoles, are_what_plans_do) {
  for (const char* algorithms : {"auto", "direct", "winograd", "pointwise"}) {
    SCOPED_TRACE(algorithms);
    const Plan plan = make_plan(dense_block(32), {.threads = 1, .slots = 1, .algorithms = algorithms});
    std::map<std::string, std::int64_t> said;
    for (const auto& [name, role] : plan.norm_roles) {
      for (const auto& [word, fusion] : {std::pair("result", "normalised_input"), std::pair("moments", "norm_moments"),
                                         std::pair("gradient", "norm_gradient")}) {
        if (role.find(word) != std::string::npos) ++said[fusion];
      }
    }
    EXPECT_EQ(said, plan.fused);
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
