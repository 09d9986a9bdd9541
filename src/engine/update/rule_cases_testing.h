// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cases of update rules that the tests of every engine run. A rule without a case here fails a test of the list
// (engine/conformance/reference_engine_test.cpp). Test code only.
#pragma once

#include <string>
#include <vector>

#include "engine/update/update_list.h"

namespace roentgen::engine {

/// A rule with options, and a learning rate that suits it.
struct RuleCase {
  std::string name;  ///< as GoogleTest takes it
  UpdateRule rule;
  double lr = 0.1;
};

/// Every rule, in every form that has a kernel of its own.
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
