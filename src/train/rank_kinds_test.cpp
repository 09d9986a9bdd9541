// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs of ranks on two kinds of machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "train/rank_plans.h"
#include "train/training_ranks_testing.h"

namespace roentgen::train {
namespace {

using RanksOfKinds = RanksOfARun;

TEST_F(RanksOfKinds, stop_and_go_on_to_the_same_bits) {
  const auto is_other = [](int rank) { return rank % 2 == 1; };
  std::string measured = "rounded";
  machine_of_ = [&](int rank, FakeEngine& engine) {
    engine.kind = is_other(rank) ? "other" : "usual";
    engine.form = {.choice = is_other(rank) ? measured : "plain", .is_weight_first = is_other(rank)};
  };
  expect_none(run_ranks(4, 2, "whole"));
  expect_none(run_ranks(4, 2, "parts", Start::Fresh, 6));
  const std::vector<KindPlan> plans = resume_of("parts").state.plans;
  ASSERT_THAT(plans, testing::SizeIs(2));
  EXPECT_EQ(plans[0].kind, "usual");
  EXPECT_EQ(plans[1].kind, "other");
  EXPECT_EQ(plans[1].choices.at("fc/forward"), "rounded");
  measured = "plain";  // what would be chosen now
  expect_none(run_ranks(4, 2, "parts", Start::Resume));
  expect_same_end(resume_of("parts"), resume_of("whole"));
  machine_of_ = nullptr;
  expect_none(run_ranks(4, 2, "alike"));
  EXPECT_NE(resume_of("alike").weights[0].values, resume_of("whole").weights[0].values) << "kinds make other bits";
  expect_close_end(resume_of("alike"), resume_of("whole"));
}

TEST_F(RanksOfKinds, have_one_plan_where_batch_norms_are_of_all) {
  recipe_.train.batch_norm = "sync";
  machine_of_ = [](int rank, FakeEngine& engine) { engine.kind = "kind " + std::to_string(rank); };
  expect_none(run_ranks(2, 4, "sync"));
  EXPECT_THAT(resume_of("sync").state.plans, testing::SizeIs(1));
}

}  // namespace
}  // namespace roentgen::train
