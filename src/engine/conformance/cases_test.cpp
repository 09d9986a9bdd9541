// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the conformance cases: every op has at least one, and each contains what its name says.
#include "engine/conformance/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <variant>

#include "engine/conformance/bounds.h"

namespace roentgen::engine::conformance {
namespace {
template <typename Kind>
void expect_cases_of() {
  const std::vector<Case> cases = cases_of(Kind{});
  EXPECT_GE(cases.size(), 3U) << Kind::kInfo.name;
  for (const Case& tested : cases) {
    EXPECT_TRUE(tested.name.starts_with(std::string(Kind::kInfo.name) + ".")) << tested.name;
    EXPECT_TRUE(std::ranges::any_of(tested.graph.nodes(), [](const graph::Node& node) {
      return std::holds_alternative<Kind>(node.op);
    })) << tested.name;
  }
}
}  // namespace

TEST(ConformanceCases, every_op_has_cases_that_hold_it) {
#define RG_EXPECT_CASES(Kind) expect_cases_of<graph::Kind>();
  RG_OP_LIST(RG_EXPECT_CASES)
#undef RG_EXPECT_CASES
}

TEST(ConformanceCases, names_are_unique) {
  std::set<std::string> names;
  for (const Case& tested : all_cases()) EXPECT_TRUE(names.insert(tested.name).second) << tested.name;
}

TEST(ConformanceCases, all_have_logits_and_a_loss) {
  for (const Case& tested : all_cases()) {
    EXPECT_GE(tested.graph.output("logits"), 0) << tested.name;
    EXPECT_GE(tested.graph.output("loss"), 0) << tested.name;
  }
}

TEST(ConformanceCases, bounds_stay_where_float_is_worth_comparing) {
  // Bounds must detect a wrong border pixel or a missing term, which cause an error of at least 1e-3.
  for (const Case& tested : all_cases()) {
    EXPECT_GT(error_bound(tested.graph), 1e-7) << tested.name;
    EXPECT_LT(error_bound(tested.graph), 5e-4) << tested.name;
  }
}

}  // namespace roentgen::engine::conformance
