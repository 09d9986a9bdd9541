// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norms whose forward or backward is partly done by the convolutions around them: those with a residual, and the
// moments of all. They train as those that do it themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/plan/residual_blocks_testing.h"
#include "engine/cpu/plan/step_bits_testing.h"
#include "engine/cpu/simd/tiles.h"
#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::engine::cpu {
namespace {
using graph::Builder;
using graph::NodeId;

// Another rank that has the same images.
std::shared_ptr<NormGroup> group_of_two() {
  auto group = std::make_shared<NormGroup>();
  group->ranks = 2;
  group->sum = [](std::span<double> sums, std::int64_t /*index*/) {
    for (double& sum : sums) sum *= 2.0;
  };
  return group;
}

std::map<std::string, std::string> with_direct(std::map<std::string, std::string> choices, const std::string& part) {
  int changed = 0;
  for (auto& [key, choice] : choices) {
    if (key.find(part) == std::string::npos) continue;
    choice = "direct";
    ++changed;
  }
  EXPECT_EQ(changed, 1) << part;
  return choices;
}

std::int64_t entries_into_norm_that_write_again(const Plan& plan) {
  return std::ranges::count_if(plan.entries, [&](const PlanEntry& e) {
    return e.implementation.ends_with(" into norm") && std::ranges::any_of(e.writes, [&](TensorId id) {
             return plan.tensors.at(static_cast<std::size_t>(id)).name.ends_with("/again");
           });
  });
}

// The first three joins: the last one is read by a pooling.
TEST(NormWithResidual, data_gradients_do_the_backward_of_the_norm_before_them) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const auto reads_through = [](const Plan& plan) { return entries_that(plan, " from norm"); };
  std::vector<std::vector<float>> kept;
  for (const char* recompute : {"none", "auto", "all"}) {
    SCOPED_TRACE(recompute);
    CompileOptions options{.slots = 1, .algorithms = "split2", .recompute = recompute};
    const auto done = make_executable(residual_blocks(), options);
    EXPECT_EQ(entries_into_norm(done->plan()), 3);
    EXPECT_EQ(reads_through(done->plan()), 6) << "both gradients of the convolutions before them";
    EXPECT_EQ(entries_of(done->plan(), "batch_norm_add_relu_backward"), 1);
    // What was dropped is written again on the way, but where it is wanted before.
    EXPECT_EQ(entries_into_norm_that_write_again(done->plan()), std::string(recompute) == "auto" ? 1 : 0);
    const auto bits = bits_of_one_step(*done);
    EXPECT_EQ(bits, bits_of_one_step(*done));
    if (kept.empty()) kept = bits;
    EXPECT_EQ(bits, kept) << "whatever was dropped";
    // A weight gradient that needs stored values.
    options.choices = with_direct(done->plan().choices, "out1/backward_weights");
    options.choices = with_direct(options.choices, "out2/backward_weights");
    options.choices = with_direct(options.choices, "out3/backward_weights");
    const auto stored = make_executable(residual_blocks(), options);
    EXPECT_EQ(entries_into_norm(stored->plan()), 0);
    EXPECT_EQ(reads_through(stored->plan()), 0);
    EXPECT_EQ(entries_of(stored->plan(), "batch_norm_add_relu_backward"), 4);
    expect_nearly_the_same_step(*done, *stored, false);
  }
}

TEST(NormWithResidual, other_kernels_leave_it_to_the_norm) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  const auto all = make_executable(residual_blocks(), {.slots = 1, .algorithms = "split2"});
  for (const char* part : {"in2/backward_data", "out1/backward_data", "out1/backward_weights"}) {
    SCOPED_TRACE(part);
    const auto one = make_executable(
        residual_blocks(), {.slots = 1, .algorithms = "split2", .choices = with_direct(all->plan().choices, part)});
    EXPECT_EQ(entries_into_norm(one->plan()), 2);
    EXPECT_EQ(entries_of(one->plan(), "batch_norm_add_relu_backward"), 2);
    expect_nearly_the_same_step(*one, *all, false);
  }
  const auto narrow = make_executable(residual_blocks(), {.slots = 1, .algorithms = "direct", .dtype = "bf16"});
  EXPECT_EQ(entries_into_norm(narrow->plan()), 0) << "slower in bf16";
  EXPECT_EQ(std::ranges::count_if(narrow->plan().entries,
                                  [](const PlanEntry& e) {
                                    return e.kind == "conv2d_backward_data" && e.implementation.starts_with("bf16");
                                  }),
            9);
  const auto group = std::make_shared<NormGroup>();
  group->ranks = 2;
  const auto over_ranks = make_executable(residual_blocks(), {.slots = 1, .algorithms = "split2", .norm_group = group});
  EXPECT_EQ(entries_into_norm(over_ranks->plan()), 0) << "means of all ranks";
}

// Results that lie over a tensor that the same entry reads, which is over then.
std::int64_t sums_over_their_residual(const Plan& plan) {
  return std::ranges::count_if(plan.entries, [&](const PlanEntry& e) {
    const auto tensor = [&](TensorId id) { return plan.tensors.at(static_cast<std::size_t>(id)); };
    return e.implementation.find(" of sum") != std::string::npos && std::ranges::any_of(e.writes, [&](TensorId made) {
             return tensor(made).name.starts_with("join") && std::ranges::any_of(e.reads, [&](TensorId read) {
                      return tensor(read).bytes == tensor(made).bytes && tensor(read).offset == tensor(made).offset;
                    });
           });
  });
}

// What becomes of the batch norm "shortcut_norm". First: before the block's other layers, in the second block too.
enum class Shortcut { Alone, Named, WithRelu, ReadTwice, Added, First };

// A block whose residual is a batch norm of a 1x1 convolution, and one with its source as residual.
graph::Graph projected_blocks(Shortcut shortcut) {
  Builder b("projected_blocks");
  const auto conv = [](std::int64_t channels, std::int64_t side) {
    return graph::Conv2d{.out_channels = channels, .kernel = {side, side}, .pad = {side / 2, side / 2}, .bias = false};
  };
  const NodeId image = b.input("image", {3, 3, 9, 7});
  NodeId x = b.add("start", graph::BatchNorm{.relu = true}, {b.add("stem", conv(16, 3), {image})});
  for (const std::string block : {"1", "2"}) {
    const bool is_projected = block == "1", is_first = shortcut == Shortcut::First;
    const auto project = [&] {
      const std::string name = is_projected ? "shortcut" : "shortcut2";
      const bool relu = shortcut == Shortcut::WithRelu;
      return b.add(name + "_norm", graph::BatchNorm{.relu = relu}, {b.add(name, conv(32, 1), {x})});
    };
    NodeId residual = is_first ? project() : x;
    NodeId inner = b.add("in" + block, conv(16, 1), {x});
    inner = b.add("in_norm" + block, graph::BatchNorm{.relu = true}, {inner});
    inner = b.add("out" + block, conv(32, 3), {inner});
    if (is_projected && !is_first) residual = project();
    if (is_projected && shortcut == Shortcut::Named) b.output("shortcut", residual);
    const bool is_read_twice = is_projected && shortcut == Shortcut::ReadTwice;
    if (is_projected && shortcut == Shortcut::Added) {
      x = b.add("sum" + block, graph::Add{}, {b.add("join" + block, graph::BatchNorm{}, {inner}), residual});
      continue;
    }
    x = b.add("join" + block, graph::BatchNorm{.relu = true}, {inner, residual});
    if (is_read_twice) x = b.add("sum" + block, graph::Add{}, {x, residual});
  }
  x = b.add("pool", graph::GlobalAvgPool{}, {b.add("last", conv(16, 1), {x})});
  x = b.add("flat", graph::Flatten{}, {x});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

// join1 and join3 are read by a pointwise convolution first, join2 by a window, join4 by a pooling.
TEST(NormWithResidual, the_first_pointwise_reader_makes_the_sum) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  std::vector<std::vector<float>> kept;
  for (const char* recompute : {"none", "auto", "all"}) {
    SCOPED_TRACE(recompute);
    CompileOptions options{.slots = 1, .algorithms = "split2", .recompute = recompute};
    const auto made = make_executable(residual_blocks(), options);
    EXPECT_EQ(entries_that(made->plan(), " of sum"), 2);
    EXPECT_EQ(entries_of(made->plan(), "batch_norm_add_relu_forward"), 2);
    EXPECT_EQ(sums_over_their_residual(made->plan()) > 0, std::string(recompute) != "none") << "no memory of its own";
    const auto bits = bits_of_one_step(*made);
    EXPECT_EQ(bits, bits_of_one_step(*made));
    if (kept.empty()) kept = bits;
    EXPECT_EQ(bits, kept) << "whatever was dropped";
    // Forwards that need stored values.
    options.choices = with_direct(made->plan().choices, "in2/forward");
    options.choices = with_direct(options.choices, "out4/forward");
    const auto stored = make_executable(residual_blocks(), options);
    EXPECT_EQ(entries_that(stored->plan(), " of sum"), 0);
    EXPECT_EQ(entries_of(stored->plan(), "batch_norm_add_relu_forward"), 4);
    expect_nearly_the_same_step(*made, *stored, false);
  }
  for (const char* dtype : {"f32", "bf16"}) {
    const auto narrow = make_executable(residual_blocks(), {.slots = 1, .algorithms = "direct", .dtype = dtype});
    EXPECT_EQ(entries_that(narrow->plan(), " of sum"), 0) << dtype;
  }
}

TEST(NormWithResidual, a_residual_that_is_a_norm_is_normalised_in_the_sum) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  for (const char* recompute : {"none", "auto", "all"}) {
    SCOPED_TRACE(recompute);
    const CompileOptions options{.slots = 1, .algorithms = "split2", .recompute = recompute};
    const auto read = make_executable(projected_blocks(Shortcut::Alone), options);
    const auto stored = make_executable(projected_blocks(Shortcut::Named), options);
    EXPECT_EQ(entries_that(read->plan(), " of sum"), 2);
    EXPECT_EQ(entries_that(stored->plan(), " of sum"), 2);
    // To compute it again, the sum needs a stored one.
    EXPECT_EQ(stores(read->plan(), "shortcut_norm"), std::string(recompute) == "all");
    EXPECT_TRUE(stores(stored->plan(), "shortcut_norm"));
    EXPECT_EQ(bits_of_one_step(*read), bits_of_one_step(*stored));
  }
  for (const Shortcut shortcut : {Shortcut::WithRelu, Shortcut::ReadTwice, Shortcut::First}) {
    const auto other = make_executable(projected_blocks(shortcut), {.slots = 1, .algorithms = "split2"});
    EXPECT_TRUE(stores(other->plan(), "shortcut_norm")) << static_cast<int>(shortcut);
  }
  // The sum is made by its batch norm.
  const auto all = make_executable(projected_blocks(Shortcut::Alone), {.slots = 1, .algorithms = "split2"});
  const auto direct =
      make_executable(projected_blocks(Shortcut::Alone),
                      {.slots = 1, .algorithms = "split2", .choices = with_direct(all->plan().choices, "in2/forward")});
  EXPECT_TRUE(stores(direct->plan(), "shortcut_norm"));
  expect_nearly_the_same_step(*all, *direct, false);
}

// A batch norm without a ReLU: the gradients of the convolution before it compute its dx while they read.
TEST(NormWithResidual, a_norm_without_a_mask_adds_up_and_stores_no_gradient) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  for (const char* recompute : {"none", "all"}) {
    SCOPED_TRACE(recompute);
    CompileOptions options{.slots = 1, .algorithms = "split2", .recompute = recompute};
    const auto read = make_executable(projected_blocks(Shortcut::Alone), options);
    EXPECT_EQ(entries_of(read->plan(), "batch_norm_gradient_sums"), 1);
    EXPECT_EQ(entries_of(read->plan(), "batch_norm_backward"), 0);
    EXPECT_FALSE(stores(read->plan(), "d:shortcut"));
    for (const char* part : {"shortcut/backward_weights", "shortcut/backward_data"}) {
      SCOPED_TRACE(part);
      options.choices = with_direct(read->plan().choices, part);
      const auto stored = make_executable(projected_blocks(Shortcut::Alone), options);
      EXPECT_EQ(entries_of(stored->plan(), "batch_norm_gradient_sums"), 0);
      EXPECT_EQ(entries_of(stored->plan(), "batch_norm_backward"), 1);
      EXPECT_TRUE(stores(stored->plan(), "d:shortcut"));
      expect_nearly_the_same_step(*read, *stored, false);
    }
  }
  // Both batch norms before an addition, dropped or not.
  for (const char* recompute : {"none", "auto", "all"}) {
    SCOPED_TRACE(recompute);
    CompileOptions options{.slots = 1, .algorithms = "split2", .recompute = recompute};
    const auto added = make_executable(projected_blocks(Shortcut::Added), options);
    EXPECT_EQ(entries_of(added->plan(), "batch_norm_gradient_sums"), 2);
    options.choices = with_direct(added->plan().choices, "shortcut/backward_weights");
    options.choices = with_direct(options.choices, "out1/backward_weights");
    const auto stored = make_executable(projected_blocks(Shortcut::Added), options);
    EXPECT_EQ(entries_of(stored->plan(), "batch_norm_gradient_sums"), 0);
    expect_nearly_the_same_step(*added, *stored, false);
  }
  // A data gradient that reads through one batch norm and does the backward of another.
  const auto first = make_executable(projected_blocks(Shortcut::First), {.slots = 1, .algorithms = "split2"});
  EXPECT_EQ(entries_of(first->plan(), "batch_norm_gradient_sums"), 2);
  EXPECT_EQ(std::ranges::count_if(first->plan().entries,
                                  [](const PlanEntry& e) {
                                    return e.implementation.find(" from norm") != std::string::npos &&
                                           e.implementation.ends_with(" into norm");
                                  }),
            1);
  const auto apart = make_executable(
      projected_blocks(Shortcut::First),
      {.slots = 1, .algorithms = "split2", .choices = with_direct(first->plan().choices, "shortcut2/backward_data")});
  EXPECT_EQ(entries_of(apart->plan(), "batch_norm_gradient_sums"), 1);
  expect_nearly_the_same_step(*first, *apart, false);
}

TEST(NormWithResidual, a_norm_without_a_mask_stores_a_gradient_where_nothing_is_saved) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  // A mask, a sum of gradients.
  for (const Shortcut shortcut : {Shortcut::WithRelu, Shortcut::ReadTwice}) {
    const auto other = make_executable(projected_blocks(shortcut), {.slots = 1, .algorithms = "split2"});
    EXPECT_EQ(entries_of(other->plan(), "batch_norm_gradient_sums"), 0) << static_cast<int>(shortcut);
  }
  const auto narrow = make_executable(projected_blocks(Shortcut::Alone), {.slots = 1, .dtype = "bf16"});
  EXPECT_EQ(entries_of(narrow->plan(), "batch_norm_gradient_sums"), 0) << "f32 alone";
}

// Sums of all ranks: with those of another that has the same images, the means are the same.
TEST(NormWithResidual, a_norm_without_a_mask_adds_up_over_ranks) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  CompileOptions options{.slots = 1, .algorithms = "split2", .norm_group = group_of_two()};
  const auto read = make_executable(projected_blocks(Shortcut::Alone), options);
  EXPECT_EQ(entries_of(read->plan(), "batch_norm_gradient_sums"), 1);
  options.choices = with_direct(read->plan().choices, "shortcut/backward_weights");
  const auto stored = make_executable(projected_blocks(Shortcut::Alone), options);
  EXPECT_EQ(entries_of(stored->plan(), "batch_norm_gradient_sums"), 0);
  expect_nearly_the_same_step(*read, *stored, false);
}

// Convolutions on tiles, whose result a batch norm alone reads, leave it no pass over that for its statistics.
TEST(NormMoments, are_added_up_by_the_convolution_before) {
  if (!simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  for (const char* dtype : {"f32", "bf16"}) {
    SCOPED_TRACE(dtype);
    const CompileOptions options{.slots = 1, .algorithms = "split2", .dtype = dtype};
    const auto alone = make_executable(residual_blocks(), options);
    EXPECT_EQ(entries_that(alone->plan(), " with moments"), 9) << "all but the stem, of three channels";
    std::map<std::string, std::string> choices = alone->plan().choices;
    for (auto& [key, choice] : choices) {
      if (key.ends_with("/forward")) choice = "direct";
    }
    if (std::string(dtype) == "f32") {
      const auto apart = make_executable(residual_blocks(), {.slots = 1, .algorithms = "split2", .choices = choices});
      EXPECT_EQ(entries_that(apart->plan(), " with moments"), 0);
      expect_nearly_the_same_step(*alone, *apart, false);
    }
    // Another rank with the same images changes no mean.
    CompileOptions of_two = options;
    of_two.norm_group = group_of_two();
    const auto over_ranks = make_executable(residual_blocks(), of_two);
    EXPECT_EQ(entries_that(over_ranks->plan(), " with moments"), 9);
    const auto here = bits_of_one_step(*alone), both = bits_of_one_step(*over_ranks);
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::string& name = alone->graph().parameter(static_cast<std::int32_t>(i)).name;
      if (!name.ends_with("running_mean")) continue;
      EXPECT_EQ(here[i], both[i]) << name;
    }
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
