// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the reference interpreter as an engine. All cases then pass through the engine interface with memory that is
// separate from the host's.
#include "engine/reference/reference_engine_testing.h"

#include <gtest/gtest.h>

#include "engine/conformance/suite_testing.h"

namespace roentgen::engine::conformance {
namespace {

RG_CONFORMANCE(Reference, [] { return std::make_unique<reference::ReferenceEngine>(); }, {kF32});

/// Names of the update rules in the list, in the order of UpdateRule.
#define RG_RULE_NAME(Rule) #Rule,
constexpr const char* kRules[] = {RG_UPDATE_LIST(RG_RULE_NAME)};
#undef RG_RULE_NAME

TEST(UpdateTrials, have_every_rule_of_the_list) {
  const auto trials = update_trials([] { return std::make_unique<reference::ReferenceEngine>(); });
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    EXPECT_TRUE(std::ranges::any_of(trials, [&](const UpdateTrial& trial) { return trial.rule.index() == i; }))
        << kRules[i] << " has no case in engine/update/rule_cases_testing.h";
  }
}

TEST(ReferenceEngine, has_memory_that_the_host_cannot_reach) {
  const auto executable = reference::ReferenceEngine().compile(network_cases().front().graph, {});
  for (const Arena* arena : {&executable->parameters(), &executable->gradients(), &executable->state()}) {
    EXPECT_NE(arena->device().copies, nullptr);
  }
}

}  // namespace
}  // namespace roentgen::engine::conformance
