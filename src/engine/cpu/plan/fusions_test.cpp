// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Every fusion of this engine can be turned off by name, which changes a step only by rounding.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "engine/cpu/choice/dense_block_testing.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/plan/residual_blocks_testing.h"
#include "graph/passes/pass_list.h"

namespace roentgen::engine::cpu {
namespace {

std::unique_ptr<Executable> compiled(const std::string& fuse, const std::string& algorithms) {
  return make_executable(residual_blocks(),
                         {.threads = 1, .slots = 1, .fuse = fuse, .algorithms = parse_algorithms(algorithms)});
}

std::set<std::string> fusions_in(const Executable& executable) {
  std::set<std::string> names;
  for (const auto& [name, count] : executable.plan().fused) {
    EXPECT_GT(count, 0) << name;
    names.insert(name);
  }
  return names;
}

class Fusions : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string what = lacking_for(GetParam()); !what.empty()) GTEST_SKIP() << what;
  }
};

TEST_P(Fusions, can_be_switched_off_each_alone) {
  const std::unique_ptr<Executable> all = compiled("on", GetParam());
  std::set<std::string> expected{"normalised_input"};
  if (GetParam() != "winograd") expected.insert("norm_moments");
  EXPECT_EQ(fusions_in(*all), expected);
  for (const std::string& name : expected) {
    const std::unique_ptr<Executable> without = compiled("on,-" + name, GetParam());
    std::set<std::string> others = expected;
    others.erase(name);
    EXPECT_EQ(fusions_in(*without), others);
    EXPECT_NE(without->plan().hash(), all->plan().hash()) << name;
    SCOPED_TRACE("without " + name);
    expect_nearly_the_same_step(*all, *without, false);
  }
}

TEST_P(Fusions, are_none_when_all_is_off_or_other_names_are_chosen) {
  EXPECT_TRUE(fusions_in(*compiled("off", GetParam())).empty());
  EXPECT_TRUE(fusions_in(*compiled("batch_norm_relu,batch_norm_add_relu", GetParam())).empty());
}

TEST_P(Fusions, can_be_chosen_by_name) {
  EXPECT_EQ(fusions_in(*compiled("batch_norm_relu,batch_norm_add_relu,normalised_input", GetParam())),
            std::set<std::string>{"normalised_input"});
}

TEST_P(Fusions, are_of_training_alone) {
  const Plan plan =
      make_plan(residual_blocks(),
                {.form = Form::Inference, .threads = 1, .slots = 1, .algorithms = parse_algorithms(GetParam())});
  EXPECT_TRUE(plan.fused.empty());
}

// Batch norms over concatenations, whose backward runs inside a data gradient.
TEST(FusionsOfDenseBlocks, can_be_switched_off_each_alone) {
  if (const std::string what = lacking_for("pointwise"); !what.empty()) GTEST_SKIP() << what;
  const auto dense = [](const std::string& fuse) {
    return make_executable(dense_block(32),
                           {.threads = 1, .slots = 1, .fuse = fuse, .algorithms = Algorithms::Pointwise});
  };
  const std::unique_ptr<Executable> all = dense("on");
  EXPECT_EQ(fusions_in(*all), (std::set<std::string>{"normalised_input", "norm_moments", "norm_gradient"}));
  for (const std::string name : {"normalised_input", "norm_moments", "norm_gradient"}) {
    const std::unique_ptr<Executable> without = dense("on,-" + name);
    EXPECT_FALSE(fusions_in(*without).contains(name));
    SCOPED_TRACE("without " + name);
    expect_nearly_the_same_step(*all, *without, false);
  }
  expect_nearly_the_same_step(*all, *dense("off"), false);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Fusions, testing::Values("winograd", "split2", "pointwise"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace roentgen::engine::cpu
