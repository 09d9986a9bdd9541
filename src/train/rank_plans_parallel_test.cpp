// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranks that are processes and take themselves for machines of two kinds, which choose other kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "graph/builder.h"
#include "graph/loss.h"
#include "train/rank_plans.h"
#include "train/ranks.h"

namespace roentgen::train {
namespace {

constexpr std::chrono::milliseconds kLong{60'000};
dist::CommThread* group = nullptr;

bool is_odd() { return group->rank() % 2 == 1; }

graph::Graph network() {
  graph::Builder b("two_convolutions");
  auto x = b.input("image", {2, 16, 12, 12});
  for (const char* name : {"conv1", "conv2"}) {
    x = b.add(name, graph::Conv2d{.out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}}, {x});
    x = b.add(std::string(name) + ".norm", graph::BatchNorm{}, {x});
    x = b.add(std::string(name) + ".relu", graph::Relu{}, {x});
  }
  x = b.add("flat", graph::Flatten{}, {x});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

// What would be measured: Winograd's kernels are the fastest on odd ranks' machines, direct ones on the others'.
RankPlan compile_two_kinds(const graph::Graph& graph, engine::Engine& engine) {
  engine::CompileOptions options{.threads = 1, .slots = 1, .bucket_bytes = 1U << 12};
  options.algorithms = is_odd() ? "winograd" : "direct";
  return compile_as_one(Ranks(group), {.kind = is_odd() ? "odd" : "even", .may_differ = true},
                        [&](const GivenPlan& given) { return engine.compile(graph, given.put_into(options)); });
}

// Images of the rank's own.
void fill(engine::Executable& executable) {
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(i), 0);
    Random random(7, RandomStage::Test, static_cast<std::uint64_t>(group->rank()) * 16 + i);
    const std::span<float> values(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
    for (float& value : values) value = static_cast<float>(random.uniform());
  }
}

TEST(KindsOfRanks, choose_for_themselves) {
  const auto engine = engine::make_engine("cpu");
  const RankPlan made = compile_two_kinds(network(), *engine);
  ASSERT_EQ(made.plans.size(), group->size() > 1 ? 2U : 1U);
  EXPECT_EQ(made.plans[0].choices.at("conv2/forward"), "direct");
  if (group->size() > 1) {
    EXPECT_EQ(made.plans[1].choices.at("conv2/forward"), "winograd");
  }
  EXPECT_EQ(made.executable->plan().choices, made.plans[is_odd() ? 1 : 0].choices);
}

// Gradients averaged in the form they lie in are the averages of every parameter's.
TEST(KindsOfRanks, average_every_gradient_with_its_own_kind) {
  const auto engine = engine::make_engine("cpu");
  const graph::Graph graph = network();
  const RankPlan made = compile_two_kinds(graph, *engine);
  engine::Executable& executable = *made.executable;
  engine::initialise(executable, 3);
  fill(executable);
  executable.forward();
  executable.backward(nullptr);
  const Ranks ranks(group);
  std::vector<std::vector<float>> expected;
  for (const engine::ParameterSlice& slice : executable.slices()) {
    std::vector<float> mean = executable.store_gradient(slice.parameter);
    ranks.average(mean, {.name = "test"});
    expected.push_back(std::move(mean));
  }
  for (std::size_t i = 0; i < executable.buckets().size(); ++i) {
    const engine::Bucket& bucket = executable.buckets()[i];
    const auto part =
        executable.gradients().subspan(static_cast<std::size_t>(bucket.begin), static_cast<std::size_t>(bucket.count));
    group->wait(group->all_reduce_mean(part, {"gradient bucket", static_cast<std::int64_t>(i)}));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::int32_t parameter = executable.slices()[i].parameter;
    const std::vector<float> averaged = executable.store_gradient(parameter);
    ASSERT_EQ(averaged.size(), expected[i].size());
    float most = 0.0F, off = 0.0F;
    for (std::size_t k = 0; k < averaged.size(); ++k) {
      most = std::max(most, std::abs(expected[i][k]));
      off = std::max(off, std::abs(averaged[k] - expected[i][k]));
    }
    // Sums of at most four numbers in another order.
    EXPECT_LE(off, 1e-6F * most) << graph.parameter(parameter).name;
    EXPECT_GT(most, 0.0F) << graph.parameter(parameter).name;
  }
}

TEST(KindsOfRanks, are_refused_with_values_of_two_types) {
  if (group->size() == 1) return;
  const auto engine = engine::make_engine("cpu");
  engine::CompileOptions options{.threads = 1, .slots = 1, .dtype = is_odd() ? "bf16" : "f32"};
  try {
    static_cast<void>(
        compile_as_one(Ranks(group), {.kind = is_odd() ? "odd" : "even", .may_differ = true},
                       [&](const GivenPlan& given) { return engine->compile(network(), given.put_into(options)); }));
    ADD_FAILURE() << "expected to be refused";
  } catch (const ConfigError& error) {
    const std::string expected = "[train.ranks] values on rank 1 (" + group->hosts()[1] +
                                 "): expected f32, as on rank 0 (" + group->hosts()[0] +
                                 "), got bf16; try train.dtype = \"f32\"";
    EXPECT_EQ(error.what(), expected);
  }
}

}  // namespace
}  // namespace roentgen::train

int main(int argc, char** argv) {
  using namespace roentgen;
  testing::InitGoogleTest(&argc, argv);
  dist::CommThread own([] { return dist::make_communicator("mpi"); }, train::kLong);
  train::group = &own;
  const int result = RUN_ALL_TESTS();
  if (result != 0) std::_Exit(result);  // without goodbye: the others must not wait
  return 0;
}
