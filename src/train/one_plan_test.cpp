// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/one_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "graph/loss.h"
#include "train/flat_model_testing.h"
#include "train/ranks.h"
#include "train/ranks_testing.h"

namespace roentgen::train {
namespace {

graph::Graph network() { return graph::with_loss(flat_model(2, 4, 3), {}); }

TEST(SharedChoiceInputs, are_the_least_instruction_set_and_rank_0s_threads) {
  expect_none(as_ranks(3, [](dist::CommThread& comm) {
    ReferenceEngine engine;
    engine.set = comm.rank() == 1 ? "a" : "b";
    const engine::ChoiceInputs inputs = shared_choice_inputs(Ranks(&comm), engine, 4 + comm.rank());
    EXPECT_EQ(inputs.instruction_set, "a");
    EXPECT_EQ(inputs.threads, 4);
    EXPECT_TRUE(inputs.measured.empty());
  }));
}

TEST(SharedChoiceInputs, of_one_process_are_its_own) {
  const ReferenceEngine engine;
  const engine::ChoiceInputs inputs = shared_choice_inputs(Ranks(nullptr), engine, 3);
  EXPECT_EQ(inputs.instruction_set, "reference");
  EXPECT_EQ(inputs.threads, 3);
}

// Each rank alone would choose other kernels. If kernels are timed, rank 0 chooses for all.
TEST(CompileOnRanks, takes_rank_0s_timings_and_stored_choices_on_all) {
  const auto compiled = [](dist::CommThread& comm, bool is_timed, const engine::CompileOptions& options) {
    ReferenceEngine engine;
    engine.form.choice = fmt::format("kernel={};{}", comm.rank(), comm.rank());
    engine.is_timed = is_timed;
    return compile_on_ranks(Ranks(&comm), engine, network(), options)->plan().choices.at("fc/forward");
  };
  expect_none(as_ranks(3, [&](dist::CommThread& comm) {
    EXPECT_EQ(compiled(comm, true, {}), "kernel=0;0");
    EXPECT_EQ(compiled(comm, true, {.choices = {{"fc/forward", "stored"}}}), "stored");
    EXPECT_EQ(compiled(comm, false, {}), fmt::format("kernel={0};{0}", comm.rank()));
  }));
}

/// Calls require_one_plan() on one rank for each of these forms of the network, and returns the exceptions.
std::vector<std::exception_ptr> compare(const std::vector<ReferenceForm>& forms) {
  const std::vector<std::string> hosts{"node0", "node1", "node2"};
  const auto ranks = static_cast<int>(forms.size());
  return as_ranks(ranks,
                  [&](dist::CommThread& comm) {
                    ReferenceEngine engine;
                    engine.form = forms[static_cast<std::size_t>(comm.rank())];
                    const auto executable = engine.compile(network(), {});
                    require_one_plan(Ranks(&comm), *executable);
                  },
                  kLimit, {hosts.begin(), hosts.begin() + ranks});
}

TEST(OnePlan, is_what_all_ranks_have) {
  expect_none(compare({{}, {}, {}}));
  ReferenceEngine engine;
  const auto executable = engine.compile(network(), {});
  require_one_plan(Ranks(nullptr), *executable);
}

TEST(OnePlan, is_not_of_ranks_that_chose_otherwise) {
  for (const auto& error : compare({{}, {}, {.choice = "rounded"}})) {
    EXPECT_THROW(std::rethrow_exception(error), ConfigError);
    EXPECT_THAT(text_of(error),
                testing::MatchesRegex("\\[train\\.ranks\\] choice of kernels on rank 2 \\(node2\\): expected "
                                      "[0-9a-f]{16}, as on rank 0 \\(node0\\), got [0-9a-f]{16}; try the same build on "
                                      "processors .*DNNL_MAX_CPU_ISA=AVX2 on all hosts"));
  }
}

TEST(OnePlan, is_not_of_ranks_whose_values_are_of_another_type) {
  for (const auto& error : compare({{}, {.dtype = "bf16"}})) {
    EXPECT_THAT(text_of(error), testing::HasSubstr("choice of kernels on rank 1 (node1)"));
  }
}

// Equally named kernels can give different digits on different machines. Training accepts this, evaluation does not.
TEST(OnePlan, of_inference_is_one_to_the_kernel) {
  const auto of = [](const std::string& kernel, bool has_gradients) {
    return ReferenceForm{.kernel = kernel, .has_gradients = has_gradients};
  };
  expect_none(compare({of("jit:avx512_core", false), of("jit:avx512_core", false)}));
  expect_none(compare({of("jit:avx512_core", true), of("jit:avx2", true)}));
  for (const auto& error : compare({of("jit:avx512_core", false), of("jit:avx2", false)})) {
    EXPECT_THROW(std::rethrow_exception(error), ConfigError);
    EXPECT_THAT(text_of(error), testing::HasSubstr("plan of kernels on rank 1 (node1): expected "));
  }
}

TEST(OnePlan, is_not_of_ranks_whose_gradients_lie_otherwise) {
  for (const auto& error : compare({{}, {.padding = 8}})) {
    EXPECT_THROW(std::rethrow_exception(error), ConfigError);
    EXPECT_THAT(text_of(error), testing::HasSubstr("layout of gradients on rank 1 (node1): expected "));
    EXPECT_THAT(text_of(error), testing::HasSubstr("processors of one type, or DNNL_MAX_CPU_ISA=AVX2 on all hosts"));
  }
}

}  // namespace
}  // namespace roentgen::train
