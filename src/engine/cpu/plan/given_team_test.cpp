// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plans are made for the team size that OpenMP grants. If a later team is smaller, running the plan is an error.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

#include "core/error.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/plan_testing.h"
#include "engine/cpu/plan/team_testing.h"
#include "graph/builder.h"
#include "graph/loss.h"
#include "runtime/team.h"

namespace roentgen::engine::cpu {
namespace {

graph::Graph small_graph() {
  graph::Builder b("small");
  const auto image = b.input("image", {2, 1, 32, 32});
  auto x = b.add("conv0", graph::Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}}, {image});
  x = b.add("conv1", graph::Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}}, {x});
  x = b.add("flatten", graph::Flatten{}, {x});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 2}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

TEST(GivenTeam, is_what_openmp_gives) {
  EXPECT_EQ(runtime::given_team(1), 1);
  EXPECT_EQ(runtime::given_team(3), 3);
  int given = 0, prepared = 0;
  with_one_thread([&] {
    given = runtime::given_team(3);
    prepared = runtime::prepare_team(3);
  });
  EXPECT_EQ(given, 1);
  EXPECT_EQ(prepared, 1);
}

TEST(GivenTeam, does_not_shrink_on_a_loaded_machine) {
  const int before = omp_get_dynamic();
  omp_set_dynamic(1);
  EXPECT_EQ(runtime::prepare_team(64), 64);
  omp_set_dynamic(before);
}

TEST(GivenTeam, is_what_a_plan_is_made_for) {
  bool is_done = false;
  with_one_thread([&] {
    const auto executable = make_executable(small_graph(), {.threads = 2});
    initialise(*executable, 7);
    executable->forward();
    executable->backward(nullptr);  // would hang if the plan waited for a second thread
    is_done = true;
  });
  EXPECT_TRUE(is_done);
}

TEST(GivenTeam, that_has_shrunk_since_is_refused) {
  const auto executable = make_executable(small_graph(), {.threads = 2});
  initialise(*executable, 7);
  executable->forward();
  bool is_refused = false;
  with_one_thread([&] {
    try {
      executable->forward();
    } catch (const DeviceError&) {
      is_refused = true;
    }
  });
  EXPECT_TRUE(is_refused);
}

}  // namespace
}  // namespace roentgen::engine::cpu
