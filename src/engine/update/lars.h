// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layer-wise adaptive rates for large batches (You, Gitman, Ginsburg 2017, arXiv:1708.03888). SGD with momentum whose
// rate, for each layer's weights, is scaled by trust * |w| / (|g| + decay * |w|). As in sgd here, and in torch, the
// learning rate is outside the velocity. So a changing rate needs no correction of the momentum (Goyal et al. 2017,
// arXiv:1706.02677, remark 2).
#pragma once

#include <string_view>
#include <vector>

#include "engine/update/option.h"

namespace roentgen::engine {

/// Options of the rule.
struct Lars {
  double momentum = 0.9;  ///< as Sgd's
  double trust = 1e-3;    ///< trust coefficient; above 0

  /// Names in recipes.
  static constexpr RecipeName<Lars> kNames[] = {{.name = "lars", .meaning = "sgd for large batches"}};
  static constexpr bool kIsLayerwise = true;  ///< whether a layer's weights must be one range
  /// Names of the state: as torch has them.
  [[nodiscard]] std::vector<std::string_view> state() const { return {"momentum_buffer"}; }
  /// Calls visit(name, value, range, meaning) for each number, visit(name, value, meaning) for each flag.
  template <typename Rule, typename Visit>
  static void visit_options(Rule& rule, const Visit& visit) {
    visit("momentum", rule.momentum, kShareBelowOne, "");
    visit("trust", rule.trust, Range{.low = 1e-12, .high = 1e3}, "trust coefficient");
  }
};

}  // namespace roentgen::engine
