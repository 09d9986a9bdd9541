// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares networks in which a convolution or pooling normalises its input with networks that store the normalised
// values. They must train to the same bits. If the reader also sums the batch norm's gradients, results may differ by
// rounding.
#include "engine/cpu/conv/conv2d_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/plan/step_bits_testing.h"
#include "engine/cpu/simd/tiles.h"
#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::engine::cpu {
namespace {
using graph::Builder;
using graph::NodeId;

// Two batch norms, each with a convolution as its only reader: one over a single value, one over a virtual
// concatenation. If `is_named`, they are outputs, and therefore stored.
graph::Graph two_norms(bool is_named) {
  Builder b("two_norms");
  const auto conv = [](std::int64_t channels) {
    return graph::Conv2d{.out_channels = channels, .kernel = {3, 3}, .pad = {1, 1}, .bias = false};
  };
  const NodeId image = b.input("image", {2, 3, 12, 11});
  // The stem's value is f32, whatever type other values have.
  const NodeId before = b.add("before", conv(32), {b.add("stem", conv(32), {image})});
  const NodeId single = b.add("single", graph::BatchNorm{.relu = true}, {before});
  const NodeId first = b.add("first", conv(48), {single});
  const NodeId second = b.add("second", conv(16), {first});
  const NodeId joined = b.add("joined", graph::Concat{.is_virtual = true}, {first, second});
  const NodeId shared = b.add("shared", graph::BatchNorm{.relu = true}, {joined});
  NodeId x = b.add("last", conv(32), {shared});
  x = b.add("pool", graph::GlobalAvgPool{}, {x});
  x = b.add("flat", graph::Flatten{}, {x});
  if (is_named) {
    b.output("single", single);
    b.output("shared", shared);
  }
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

std::int64_t entries_of_norm(const Plan& plan) { return entries_that(plan, " of norm"); }

struct Way {
  const char* name;
  const char* algorithms;
  const char* dtype;
  bool needs_bf16 = false;
};
class NormalisedInputs : public testing::TestWithParam<Way> {};

TEST_P(NormalisedInputs, train_to_the_bits_of_stored_ones) {
  const Way& way = GetParam();
  if (way.needs_bf16 && !simd::bf16_unit())
    GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  for (const char* recompute : {"none", "auto"}) {
    SCOPED_TRACE(recompute);
    const CompileOptions options{.slots = 1,
                                 .algorithms = parse_algorithms(way.algorithms),
                                 .dtype = parse_dtype(way.dtype),
                                 .recompute = recompute};
    const auto read = make_executable(two_norms(false), options);
    const auto stored = make_executable(two_norms(true), options);
    EXPECT_EQ(entries_of_norm(read->plan()), 4) << "forward and weight gradient of both readers";
    EXPECT_EQ(entries_of_norm(stored->plan()), 0);
    for (const char* norm : {"single", "shared"}) {
      EXPECT_FALSE(stores(read->plan(), norm)) << norm;
      EXPECT_TRUE(stores(stored->plan(), norm)) << norm;
    }
    EXPECT_EQ(bits_of_one_step(*read), bits_of_one_step(*stored));
  }
}

// Dense block of two layers and a transition, with three batch norms of a virtual concatenation, each read by a 1x1
// convolution. Norms listed in `named` are outputs, and therefore stored.
graph::Graph dense_block(const std::vector<std::string>& named) {
  Builder b("dense_block");
  const auto conv = [](std::int64_t channels, std::int64_t side) {
    return graph::Conv2d{.out_channels = channels, .kernel = {side, side}, .pad = {side / 2, side / 2}, .bias = false};
  };
  const auto name = [&](NodeId id, const std::string& as) {
    if (std::ranges::find(named, as) != named.end()) b.output(as, id);
  };
  const NodeId image = b.input("image", {3, 3, 9, 7});
  std::vector<NodeId> pieces{b.add("before", conv(32, 3), {b.add("stem", conv(32, 3), {image})})};
  for (const std::string layer : {"1", "2"}) {
    const NodeId joined = b.add("joined" + layer, graph::Concat{.is_virtual = true}, pieces);
    const NodeId norm = b.add("norm" + layer, graph::BatchNorm{.relu = true}, {joined});
    name(norm, "norm" + layer);
    const NodeId inner = b.add("inner" + layer, conv(64, 1), {norm});
    pieces.push_back(b.add("new" + layer, conv(16, 3), {inner}));
  }
  const NodeId joined = b.add("joined", graph::Concat{.is_virtual = true}, pieces);
  const NodeId norm = b.add("norm", graph::BatchNorm{.relu = true}, {joined});
  name(norm, "norm");
  NodeId x = b.add("transition", conv(32, 1), {norm});
  x = b.add("pool", graph::GlobalAvgPool{}, {x});
  x = b.add("flat", graph::Flatten{}, {x});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

TEST(NormalisedInput, pointwise_data_gradients_add_up_those_of_the_norm) {
  if (const std::string what = lacking_for("pointwise"); !what.empty()) GTEST_SKIP() << what;
  using Kind = std::pair<std::string, std::string>;
  for (const auto& [algorithms, dtype] :
       {Kind{"split", "f32"}, Kind{"split2", "f32"}, Kind{"split", "bf16"}, Kind{"pointwise", "f32"}}) {
    SCOPED_TRACE(algorithms + " " + dtype);
    if (!lacking_for(algorithms).empty()) continue;
    const CompileOptions options{.slots = 1, .algorithms = parse_algorithms(algorithms), .dtype = parse_dtype(dtype)};
    const auto stored = make_executable(dense_block({"norm1", "norm2", "norm"}), options);
    EXPECT_EQ(entries_of(stored->plan(), "concat_batch_norm_backward"), 3);
    EXPECT_EQ(entries_into_norm(stored->plan()), 0);
    const auto added = make_executable(dense_block({}), options);
    EXPECT_EQ(entries_of(added->plan(), "concat_batch_norm_backward"), 0);
    EXPECT_EQ(entries_into_norm(added->plan()), 3);
    expect_nearly_the_same_step(*added, *stored, dtype == "bf16");
    // Batch norms with fused and with separate backward add gradients to the same values.
    const auto mixed = make_executable(dense_block({"norm2"}), options);
    EXPECT_EQ(entries_of(mixed->plan(), "concat_batch_norm_backward"), 1);
    EXPECT_EQ(entries_into_norm(mixed->plan()), 2);
    expect_nearly_the_same_step(*mixed, *stored, dtype == "bf16");
  }
}

// Tests a Direct data gradient of a convolution whose forward normalises its input.
TEST(NormalisedInput, a_direct_data_gradient_stores_that_of_the_norm) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const auto all = make_executable(dense_block({}), {.slots = 1, .algorithms = Algorithms::Split});
  std::map<std::string, std::string> choices = all->plan().choices;
  std::string changed;
  for (auto& [key, choice] : choices) {
    if (key.find("inner2") == std::string::npos || key.find("backward_data") == std::string::npos) continue;
    choice = "direct";
    changed = key;
  }
  ASSERT_FALSE(changed.empty());
  const auto one = make_executable(dense_block({}), {.slots = 1, .algorithms = Algorithms::Split, .choices = choices});
  EXPECT_EQ(entries_of(one->plan(), "concat_batch_norm_backward"), 1);
  EXPECT_EQ(entries_into_norm(one->plan()), 2);
  expect_nearly_the_same_step(*one, *all, false);
}

// Checks that the norm's result is stored. Otherwise it would be rounded to bf16 before f32 kernels read it.
TEST(NormalisedInput, values_of_another_type_than_the_kernels_are_stored) {
  const auto made = make_executable(two_norms(false), {.slots = 1, .algorithms = Algorithms::Winograd});
  std::map<std::string, std::string> choices = made->plan().choices;
  choices["dtype"] = "bf16";
  EXPECT_EQ(entries_of_norm(make_executable(two_norms(false), {.slots = 1, .choices = choices})->plan()), 0);
}

TEST(NormalisedInput, direct_kernels_read_stored_values) {
  EXPECT_EQ(entries_of_norm(make_executable(two_norms(false), {.slots = 1, .algorithms = Algorithms::Direct})->plan()),
            0);
}

TEST(NormalisedInput, inference_stores_or_folds) {
  const CompileOptions options{.form = Form::Inference, .slots = 1, .algorithms = Algorithms::Winograd};
  EXPECT_EQ(entries_of_norm(make_executable(two_norms(false), options)->plan()), 0);
}

// Stem whose batch norm is read only by a max pooling.
graph::Graph stem(bool is_named, std::int64_t channels, std::int64_t side = 3) {
  Builder b("stem");
  const NodeId image = b.input("image", {2, 3, 24, 25});
  NodeId x = b.add("first", graph::Conv2d{.out_channels = channels, .kernel = {3, 3}, .bias = false}, {image});
  x = b.add("norm", graph::BatchNorm{.relu = true}, {x});
  if (is_named) b.output("norm", x);
  x = b.add("maxpool", graph::MaxPool{.kernel = {side, side}, .stride = {2, 2}, .pad = {1, 1}}, {x});
  x = b.add("last", graph::Conv2d{.out_channels = 16, .kernel = {3, 3}, .bias = false}, {x});
  x = b.add("flat", graph::Flatten{}, {b.add("pool", graph::GlobalAvgPool{}, {x})});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

TEST(NormalisedInput, max_pooling_normalises_what_it_reads) {
  const auto read = make_executable(stem(false, 32), {.slots = 1});
  const auto stored = make_executable(stem(true, 32), {.slots = 1});
  EXPECT_EQ(entries_of_norm(read->plan()), 1);
  EXPECT_EQ(entries_of_norm(stored->plan()), 0);
  EXPECT_FALSE(stores(read->plan(), "norm"));
  EXPECT_TRUE(stores(stored->plan(), "norm"));
  EXPECT_EQ(bits_of_one_step(*read), bits_of_one_step(*stored));
  // The pooling cannot normalise its input with incomplete channel blocks, or with a window of more pixels than a byte
  // can number.
  EXPECT_EQ(entries_of_norm(make_executable(stem(false, 20), {.slots = 1})->plan()), 0);
  EXPECT_EQ(entries_of_norm(make_executable(stem(false, 32, 17), {.slots = 1})->plan()), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, NormalisedInputs,
                         testing::Values(Way{"winograd", "winograd", "f32"}, Way{"split", "split", "f32", true},
                                         Way{"split2", "split2", "f32", true}, Way{"bf16", "direct", "bf16", true},
                                         Way{"winograd_bf16", "winograd", "bf16", true}),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace roentgen::engine::cpu
