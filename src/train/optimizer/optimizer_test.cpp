// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/optimizer/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "train/flat_model_testing.h"

namespace roentgen::train {
namespace {

using Rules = engine::OptimizerRules;

// Default options of all rules, except for `rule`.
template <typename Rule>
Rules with(const Rule& rule) {
  Rules rules;
  std::get<Rule>(rules) = rule;
  return rules;
}

std::string refusal(std::string_view name, const Rules& rules) {
  try {
    static_cast<void>(optimizer_rule(name, rules));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Optimizer, refusals_say_what_there_is) {
  EXPECT_EQ(refusal("sdg", {}),
            "[train.optimizer] name: expected a known optimizer, got sdg; try one of sgd, adam, adamw, lars, rmsprop");
  EXPECT_EQ(
      refusal("sgd", with(engine::Sgd{.momentum = 1.0})),
      "[train.optimizer] momentum: expected at least 0 and below 1, got 1; try a value in that range, such as the "
      "default that roentgen train --keys shows");
  EXPECT_EQ(refusal("lars", with(engine::Sgd{.nesterov = true})),
            "[train.optimizer] nesterov: expected optimizer sgd, which has this flag, got lars; try --set "
            "optimizer.nesterov=false, or "
            "optimizer.name=sgd");
}

TEST(Optimizer, refusals_name_the_range_that_is_accepted) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("adam", with(engine::Adam{.epsilon = 0.0})), HasSubstr("expected above 0 and below 1, got 0"));
  EXPECT_THAT(refusal("adamw", with(engine::Adam{.beta1 = 1.0})), HasSubstr("expected at least 0 and below 1, got 1"));
  EXPECT_THAT(refusal("rmsprop", with(engine::RmsProp{.epsilon = 1.0})), HasSubstr("above 0 and below 1, got 1"));
  EXPECT_THAT(refusal("lars", with(engine::Lars{.trust = 2000.0})), HasSubstr("expected 1e-12 to 1000, got 2000"));
  EXPECT_THAT(refusal("lars", with(engine::Lars{.trust = 0.0})), HasSubstr("expected 1e-12 to 1000, got 0"));
}

TEST(Optimizer, flags_of_rules_that_share_no_option_are_of_no_account) {
  EXPECT_NO_THROW(static_cast<void>(optimizer_rule("adam", with(engine::Sgd{.nesterov = true}))));
  EXPECT_THAT(refusal("sgd", with(engine::RmsProp{.centered = true})),
              testing::HasSubstr("centered: expected optimizer rmsprop"));
}

TEST(Optimizer, refuses_an_unknown_name_and_bad_options) {
  EXPECT_THROW(static_cast<void>(optimizer_rule("sdg", {})), ConfigError);
  EXPECT_THROW(static_cast<void>(optimizer_rule("sgd", with(engine::Sgd{.momentum = 0.0, .nesterov = true}))),
               ConfigError);
  EXPECT_THROW(static_cast<void>(optimizer_rule("adam", with(engine::Adam{.beta2 = -0.1}))), ConfigError);
  EXPECT_THROW(static_cast<void>(optimizer_rule("lars", with(engine::Sgd{.nesterov = true}))), ConfigError);
  EXPECT_THROW(static_cast<void>(optimizer_rule("rmsprop", with(engine::Sgd{.nesterov = true}))), ConfigError);
  EXPECT_THROW(static_cast<void>(optimizer_rule("rmsprop", with(engine::RmsProp{.alpha = 1.0}))), ConfigError);
  EXPECT_THROW(static_cast<void>(optimizer_rule("lars", with(engine::Lars{.trust = 0.0}))), ConfigError);
}

TEST(Optimizer, looks_at_the_options_of_its_own_rule_alone) {
  EXPECT_NO_THROW(static_cast<void>(optimizer_rule("adam", with(engine::Sgd{.momentum = 2.0}))));
}

TEST(Optimizer, of_each_name_has_the_rule_and_the_state_of_torchs) {
  ReferenceEngine engine;
  const auto executable = engine.compile(flat_model(2, 2, 3), {});
  const std::pair<std::string_view, std::vector<std::string_view>> expected[] = {
      {"sgd", {"momentum_buffer"}},
      {"adam", {"exp_avg", "exp_avg_sq"}},
      {"adamw", {"exp_avg", "exp_avg_sq"}},
      {"rmsprop", {"square_avg", "momentum_buffer"}},
      {"lars", {"momentum_buffer"}}};
  ASSERT_EQ(std::size(expected), optimizer_names().size());
  for (const auto& [name, names] : expected) {
    Optimizer optimizer(name, {}, *executable);
    std::vector<std::string_view> got;
    for (const OptimizerState& state : optimizer.state()) {
      got.push_back(state.name);
      EXPECT_EQ(state.arena.elements(), executable->parameters().elements());
    }
    EXPECT_EQ(got, names);
    EXPECT_EQ(optimizer.state_bytes(), names.size() * executable->parameters().size_bytes());
    EXPECT_EQ(optimizer.is_layerwise(), name == "lars");
  }
  EXPECT_TRUE(std::get<engine::Adam>(optimizer_rule("adamw", {})).decoupled);
  EXPECT_FALSE(std::get<engine::Adam>(optimizer_rule("adam", {})).decoupled);
}

TEST(Optimizer, of_rmsprop_keeps_the_state_that_its_options_need) {
  using Names = std::vector<std::string_view>;
  const auto state = [](const engine::RmsProp& rule) {
    return engine::state_of(optimizer_rule("rmsprop", with(rule)));
  };
  EXPECT_EQ(state({.momentum = 0.0}), (Names{"square_avg"}));
  EXPECT_EQ(state({.momentum = 0.0, .centered = true}), (Names{"square_avg", "grad_avg"}));
  EXPECT_EQ(state({.centered = true}), (Names{"square_avg", "momentum_buffer", "grad_avg"}));
}

}  // namespace
}  // namespace roentgen::train
