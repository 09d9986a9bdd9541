// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layer-wise adaptive rate scaling for large batches (You, Gitman, Ginsburg 2017, arXiv:1708.03888). It is SGD with
// momentum, but each layer's weights have their own rate: lr * trust * |w| / (|g| + decay * |w|). The learning rate is
// not part of the velocity, as in our Sgd and in torch. So a changing rate needs no correction of the momentum (Goyal
// et al. 2017, arXiv:1706.02677, remark 2).
#pragma once

#include <string_view>
#include <vector>

#include "engine/update/option.h"

namespace roentgen::engine {

/// Options of layer-wise adaptive rate scaling.
struct Lars {
  double momentum = 0.9;  ///< decay of the velocity, as in Sgd
  double trust = 1e-3;    ///< trust coefficient of the layer-wise rate; positive

  /// Names of this optimizer in recipes.
  static constexpr RecipeName<Lars> kNames[] = {{.name = "lars", .meaning = "sgd for large batches"}};
  static constexpr bool kIsLayerwise = true;  ///< true if the update needs each layer's weights as a separate range
  /// Names of the state tensors, as in torch.
  [[nodiscard]] std::vector<std::string_view> state() const { return {"momentum_buffer"}; }
  /// Calls visit(name, value, range, meaning) for each numeric option, and visit(name, value, meaning) for each flag.
  template <typename Rule, typename Visit>
  static void visit_options(Rule& rule, const Visit& visit) {
    visit("momentum", rule.momentum, kShareBelowOne, "");
    visit("trust", rule.trust, Range{.low = 1e-12, .high = 1e3}, "trust coefficient of the layer-wise rate");
  }
};

}  // namespace roentgen::engine
