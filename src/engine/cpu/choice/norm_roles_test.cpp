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

#include "engine/cpu/choice/dense_block_testing.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/residual_blocks_testing.h"
#include "engine/cpu/simd/pointwise.h"
#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::engine::cpu {
namespace {
using graph::Builder;
using graph::NodeId;
using testing::Each;
using testing::Pair;

std::map<std::string, std::string> roles(const graph::Graph& graph, const std::string& algorithms,
                                         const std::string& fuse = "on") {
  return make_plan(graph, {.threads = 1, .slots = 1, .fuse = fuse, .algorithms = parse_algorithms(algorithms)})
      .norm_roles;
}

TEST(NormRoles, of_pointwise_kernels_in_a_dense_block) {
  if (!simd::has_avx512()) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  const std::map<std::string, std::string> expected{
      // The 1x1 convolution after norm_a1 computes forward, data gradient and weight gradient by products.
      {"norm_a1", "statistics shared, result by narrow1, gradient by narrow1"},
      {"norm_a2", "statistics shared, result by narrow2, gradient by narrow2"},
      // The 3x3 convolution after norm_b1 uses Direct; the 1x1 convolution before norm_b1 sums the moments.
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
  // Without normalised_input, norm_gradient is off as well, since the mask is computed from the norm's input.
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

// A norm is stored if it is an output or read twice. A pooling normalises its input if it is the norm's only reader.
TEST(NormRoles, of_norms_that_others_need_are_their_own) {
  enum class Use { Output, ReadTwice, Pooled, Alone };
  for (const Use use : {Use::Output, Use::ReadTwice, Use::Pooled, Use::Alone}) {
    SCOPED_TRACE(static_cast<int>(use));
    Builder b("norm");
    const graph::Conv2d conv{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}, .bias = false};
    const NodeId norm =
        b.add("norm", graph::BatchNorm{.relu = true}, {b.add("stem", conv, {b.input("image", {2, 3, 9, 8})})});
    if (use == Use::Output) b.output("features", norm);
    NodeId x = use == Use::Pooled ? b.add("max", graph::MaxPool{.kernel = {2, 2}, .stride = {2, 2}}, {norm})
                                  : b.add("conv", conv, {norm});
    if (use == Use::ReadTwice) x = b.add("sum", graph::Add{}, {x, norm});
    x = b.add("flat", graph::Flatten{}, {b.add("pool", graph::GlobalAvgPool{}, {x})});
    b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
    const auto role = roles(graph::with_loss(std::move(b).build(), {}), "winograd").at("norm");
    EXPECT_EQ(role, use == Use::Alone ? "result by conv" : use == Use::Pooled ? "result by max" : "own");
  }
}

// Builds the graph by hand. A concatenation may only be virtual if all its readers are batch norms.
TEST(NormRoles, of_a_virtual_concatenation_that_others_read_are_as_of_a_stored_one) {
  Builder b("virtual");
  const graph::Conv2d conv{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}, .bias = false};
  const NodeId image = b.input("image", {2, 3, 9, 8});
  const NodeId both =
      b.add("both", graph::Concat{.is_virtual = true}, {b.add("left", conv, {image}), b.add("right", conv, {image})});
  NodeId x = b.add("sum", graph::Add{},
                   {b.add("conv", conv, {both}), b.add("other", conv, {b.add("norm", graph::BatchNorm{}, {both})})});
  x = b.add("flat", graph::Flatten{}, {b.add("pool", graph::GlobalAvgPool{}, {x})});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  EXPECT_EQ(roles(graph::with_loss(std::move(b).build(), {}), "direct", "off").at("norm"), "own");
}

TEST(NormRoles, are_none_in_inference) {
  EXPECT_TRUE(make_plan(residual_blocks(), {.form = Form::Inference, .threads = 1}).norm_roles.empty());
}

// Counts the convolutions of the plan that compute a norm's result, moments or gradient. Roles must give the same
// counts.
TEST(NormRoles, are_what_plans_do) {
  for (const char* algorithms : {"auto", "direct", "winograd", "pointwise"}) {
    SCOPED_TRACE(algorithms);
    const Plan plan =
        make_plan(dense_block(32), {.threads = 1, .slots = 1, .algorithms = parse_algorithms(algorithms)});
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
