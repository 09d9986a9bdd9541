// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/rank_plans.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "graph/loss.h"
#include "train/fake_engine_testing.h"
#include "train/ranks.h"
#include "train/ranks_testing.h"

namespace roentgen::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

graph::Graph network() { return graph::with_loss(fake_model(2, 4, 3), {}); }

CompilePlan compile_by(FakeEngine& engine) {
  return [&engine](const GivenPlan& given) { return engine.compile(network(), given.put_into({})); };
}

std::string choice_of(const KernelChoices& choices) { return choices.at("fc/forward"); }

/// What a rank came to.
struct Came {
  RankPlan made;
  int chosen = 0;
};

/// Ranks whose engines `prepare` makes.
class PlansOfRanks : public testing::Test {
 protected:
  std::vector<std::exception_ptr> compile(int ranks, const std::function<void(int, FakeEngine&)>& prepare) {
    came_ = std::vector<Came>(static_cast<std::size_t>(ranks));
    const std::vector<std::string> hosts{"node0", "node1", "node2", "node3"};
    return as_ranks(ranks,
                    [&](dist::CommThread& comm) {
                      FakeEngine engine;
                      prepare(comm.rank(), engine);
                      Came& came = came_[static_cast<std::size_t>(comm.rank())];
                      came.made = compile_as_one(Ranks(&comm),
                                                 {.kind = engine.kind, .may_differ = may_differ_, .known = known_},
                                                 compile_by(engine));
                      came.chosen = engine.chosen;
                    },
                    kLimit, {hosts.begin(), hosts.begin() + ranks});
  }
  [[nodiscard]] std::string choice_of_rank(int rank) const {
    return choice_of(came_[static_cast<std::size_t>(rank)].made.executable->plan().choices);
  }
  [[nodiscard]] int chosen_by(int rank) const { return came_[static_cast<std::size_t>(rank)].chosen; }

  bool may_differ_ = true;
  std::vector<KindPlan> known_;
  std::vector<Came> came_;
};

// Ranks 0 and 2 are of one kind, 1 and 3 of another; each rank would choose something else.
void two_kinds(int rank, FakeEngine& engine) {
  engine.kind = rank % 2 == 0 ? "even" : "odd";
  engine.form.choice = fmt::format("of {}", rank);
}

TEST_F(PlansOfRanks, come_from_the_lowest_of_each_kind) {
  expect_none(compile(4, two_kinds));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(choice_of_rank(rank), fmt::format("of {}", rank % 2)) << rank;
    EXPECT_EQ(chosen_by(rank), rank < 2 ? 1 : 0) << rank;
    const std::vector<KindPlan>& plans = came_[static_cast<std::size_t>(rank)].made.plans;
    ASSERT_EQ(plans.size(), 2U);
    EXPECT_EQ(plans[0].kind, "even");
    EXPECT_EQ(choice_of(plans[0].choices), "of 0");
    EXPECT_EQ(plans[1].kind, "odd");
    EXPECT_EQ(choice_of(plans[1].choices), "of 1");
    EXPECT_EQ(plans[static_cast<std::size_t>(rank % 2)].hash,
              came_[static_cast<std::size_t>(rank)].made.executable->plan().hash());
  }
}

TEST_F(PlansOfRanks, are_rank_0s_where_they_may_not_differ) {
  may_differ_ = false;
  expect_none(compile(4, two_kinds));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(choice_of_rank(rank), "of 0");
    EXPECT_EQ(came_[static_cast<std::size_t>(rank)].made.plans.size(), 1U);
  }
}

TEST_F(PlansOfRanks, lay_gradients_out_as_rank_0_does) {
  expect_none(compile(4, [](int rank, FakeEngine& engine) {
    two_kinds(rank, engine);
    engine.form.is_weight_first = rank % 2 == 1;
  }));
  for (const Came& came : came_) EXPECT_EQ(came.made.executable->slices()[0].parameter, 1) << "the bias";
}

TEST_F(PlansOfRanks, that_gradients_lie_otherwise_in_are_refused_by_all) {
  const auto errors = compile(4, [](int rank, FakeEngine& engine) {
    two_kinds(rank, engine);
    engine.form.padding = rank % 2 == 1 ? 8 : 4;
  });
  for (const auto& error : errors) {
    EXPECT_THROW(std::rethrow_exception(error), ConfigError);
    EXPECT_EQ(text_of(error),
              "[train.ranks] gradients of rank 1 (node1): expected laid out as rank 0 (node0)'s, with which they are "
              "averaged (even), got another layout (odd); try hosts whose processors have vectors of one width");
  }
}

TEST_F(PlansOfRanks, that_store_values_otherwise_are_refused_by_all) {
  const auto errors = compile(2, [](int rank, FakeEngine& engine) {
    two_kinds(rank, engine);
    if (rank == 0) engine.form.dtype = "bf16";
  });
  for (const auto& error : errors) {
    EXPECT_EQ(text_of(error),
              "[train.ranks] values on rank 1 (node1): expected bf16, as on rank 0 (node0), got f32; try "
              "train.dtype = \"f32\"");
  }
}

TEST_F(PlansOfRanks, that_differ_within_a_kind_are_refused_by_all) {
  std::vector<std::string> hashes(4);
  const auto errors =
      as_ranks(4,
               [&](dist::CommThread& comm) {
                 FakeEngine engine;
                 two_kinds(comm.rank(), engine);
                 const auto compile = [&](GivenPlan given) {
                   if (comm.rank() == 3) given.choices["more"] = "of 3";  // as another version of the program would
                   auto made = compile_by(engine)(given);
                   hashes[static_cast<std::size_t>(comm.rank())] = made->plan().hash();
                   return made;
                 };
                 static_cast<void>(compile_as_one(Ranks(&comm), {.kind = engine.kind, .may_differ = true}, compile));
               },
               kLimit, {"a", "b", "c", "d"});
  for (const auto& error : errors) {
    EXPECT_EQ(text_of(error), fmt::format("[train.ranks] plan of rank 3 (d): expected {}, as rank 1 (b)'s, got {}; try "
                                          "the same program and the same kind of processor on all hosts",
                                          hashes[1], hashes[3]));
  }
}

TEST_F(PlansOfRanks, are_the_known_ones_where_the_run_was_before) {
  known_ = {{.kind = "even", .choices = {{"fc/forward", "of old"}}, .hash = "1"},
            {.kind = "gone", .choices = {{"fc/forward", "of the gone"}}, .hash = "2"}};
  expect_none(compile(4, two_kinds));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(choice_of_rank(rank), rank % 2 == 0 ? "of old" : "of 1");
    EXPECT_EQ(chosen_by(rank), rank == 1 ? 1 : 0);
    const std::vector<KindPlan>& plans = came_[static_cast<std::size_t>(rank)].made.plans;
    ASSERT_EQ(plans.size(), 3U);
    EXPECT_EQ(plans[2], known_[1]) << "kept for when the run is there again";
  }
}

TEST_F(PlansOfRanks, are_all_the_one_that_a_file_without_kinds_has) {
  known_ = {{.kind = "", .choices = {{"fc/forward", "of old"}}, .hash = "1"}};
  expect_none(compile(4, two_kinds));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(choice_of_rank(rank), "of old");
    EXPECT_EQ(chosen_by(rank), 0);
    EXPECT_EQ(came_[static_cast<std::size_t>(rank)].made.plans.size(), 2U) << "each kind has it as its own from now on";
  }
}

TEST_F(PlansOfRanks, of_one_host_are_chosen_one_after_the_other) {
  constexpr int kRanks = 3;
  std::atomic<int> inside = 0, most = 0;
  expect_none(as_ranks(kRanks, [&](dist::CommThread& comm) {
    FakeEngine engine;
    const auto compile = [&](const GivenPlan& given) {
      if (given.choices.empty()) {
        most = std::max<int>(most, ++inside);
        // Long enough for the others to come in as well, if they may.
        for (int i = 0; i < 20'000 && inside == 1; ++i) std::this_thread::yield();
        --inside;
      }
      return compile_by(engine)(given);
    };
    const RankPlanOptions options{.kind = std::to_string(comm.rank()), .may_differ = true};
    EXPECT_EQ(compile_as_one(Ranks(&comm), options, compile).plans.size(), static_cast<std::size_t>(kRanks));
  }));
  EXPECT_EQ(most, 1);
}

TEST(PlanOfOneProcess, is_chosen_or_the_known_one) {
  FakeEngine engine;
  const Ranks alone(nullptr);
  const RankPlan made = compile_as_one(alone, {.kind = "this", .may_differ = true}, compile_by(engine));
  EXPECT_EQ(choice_of(made.executable->plan().choices), "plain");
  EXPECT_THAT(made.plans, ElementsAre(KindPlan{"this", {{"fc/forward", "plain"}}, made.executable->plan().hash()}));
  const RankPlanOptions resumed{.kind = "this", .known = {{"this", {{"fc/forward", "of old"}}, ""}}};
  EXPECT_EQ(choice_of(compile_as_one(alone, resumed, compile_by(engine)).plans[0].choices), "of old");
  EXPECT_EQ(engine.chosen, 1);
}

TEST(PlanOfOneProcess, of_another_kind_keeps_the_kernels_that_it_has) {
  FakeEngine engine;
  const Ranks alone(nullptr);
  const auto compile = [&](const GivenPlan& given) {
    const bool is_on_tiles = !given.choices.empty() && choice_of(given.choices) == "tiles";
    if (is_on_tiles) throw ConfigError("this machine has none");
    return compile_by(engine)(given);
  };
  RankPlanOptions resumed{.kind = "this", .may_differ = true, .known = {{"that", {{"fc/forward", "of old"}}, "1"}}};
  const RankPlan kept = compile_as_one(alone, resumed, compile);
  EXPECT_EQ(choice_of(kept.executable->plan().choices), "of old");
  EXPECT_EQ(engine.chosen, 0);
  ASSERT_EQ(kept.plans.size(), 2U);
  EXPECT_EQ(kept.plans[0].kind, "this");
  EXPECT_EQ(kept.plans[1], resumed.known[0]);
  resumed.known[0].choices["fc/forward"] = "tiles";
  EXPECT_EQ(choice_of(compile_as_one(alone, resumed, compile).executable->plan().choices), "plain");
  EXPECT_EQ(engine.chosen, 1);
}

TEST(KindPlans, know_the_type_of_values) {
  EXPECT_EQ(dtype_of({}), "");
  EXPECT_EQ(dtype_of(std::vector<KindPlan>{{"a", {{"fc/forward", "plain"}}, ""}}), "f32");
  EXPECT_EQ(dtype_of(std::vector<KindPlan>{{"a", {{"dtype", "bf16"}}, ""}}), "bf16");
}

TEST(KindPlans, say_what_a_resumed_run_computes_otherwise) {
  const KernelChoices stored{{"fc/forward", "plain"}};
  const std::vector<KindPlan> before{{"a", stored, "1"}, {"b", stored, "2"}};
  const auto changes = [&](const KindPlan& now) { return plan_changes(before, std::vector<KindPlan>{now}); };
  EXPECT_THAT(changes({"a", {}, "1"}), ElementsAre());
  EXPECT_THAT(changes({"a", {}, "2"}), ElementsAre(HasSubstr("the kernels differ from those the run began with")));
  EXPECT_THAT(changes({"c", {}, "3"}), ElementsAre(HasSubstr("machines that the run was not on before (c)")));
  EXPECT_THAT(changes({"c", {}, "3"}), ElementsAre(HasSubstr("kernels are chosen anew")));
  EXPECT_THAT(changes({"c", stored, "3"}), ElementsAre(HasSubstr("the stored kernels are run by machines")))
      << "with another number of threads, say";
  EXPECT_THAT(changes({"c", {}, "2"}), ElementsAre()) << "the same kernels";
  const std::vector<KindPlan> old{{"", {}, "1"}};
  EXPECT_THAT(plan_changes(old, before), ElementsAre(HasSubstr("the kernels differ")));
}

}  // namespace
}  // namespace roentgen::train
