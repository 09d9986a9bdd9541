// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Test cases of update rules that every engine runs. For tests only. If a rule has no case here,
// engine/conformance/reference_engine_test.cpp fails.
#pragma once

#include <string>
#include <vector>

#include "engine/update/update_list.h"

namespace roentgen::engine {

/// A rule with its options, and a suitable learning rate.
struct RuleCase {
  std::string name;  ///< name in the form that GoogleTest accepts
  UpdateRule rule;
  double lr = 0.1;
};

/// Returns cases of every rule, in every variant that has a separate kernel.
[[nodiscard]] inline std::vector<RuleCase> rule_cases() {
  return {{"sgd", Sgd{.momentum = 0.0}},
          {"sgd_momentum", Sgd{}},
          {"sgd_nesterov", Sgd{.nesterov = true}},
          {"adam", Adam{}, 0.01},
          {"adamw", Adam{.decoupled = true}, 0.01},
          {"rmsprop", RmsProp{.momentum = 0.0}, 0.01},
          {"rmsprop_momentum", RmsProp{}, 0.01},
          {"rmsprop_centered", RmsProp{.momentum = 0.0, .centered = true}, 0.01},
          {"rmsprop_centered_momentum", RmsProp{.centered = true}, 0.01},
          {"lars", Lars{.trust = 0.02}, 0.5},
          {"average", Average{.share = 0.3}},
          {"accumulate", Accumulate{}},
          {"accumulate_first", Accumulate{.is_first = true}}};
}

}  // namespace roentgen::engine
