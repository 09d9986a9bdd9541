// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stochastic gradient descent with momentum, as torch.optim.SGD without dampening:
//   g = scale * gradient + weight_decay * p;  b = momentum * b + g;  p -= lr * (nesterov ? g + momentum * b : b)
// In its first step, torch sets b = g. Starting from b = 0 gives the same result.
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"
#include "engine/update/option.h"

namespace roentgen::engine {

/// Options of stochastic gradient descent.
struct Sgd {
  double momentum = 0.9;  ///< 0: no momentum, and no state
  bool nesterov = false;  ///< Nesterov's form (Sutskever et al. 2013); lr is not part of the velocity

  /// Names of this optimizer in recipes.
  static constexpr RecipeName<Sgd> kNames[] = {{.name = "sgd"}};
  static constexpr bool kIsLayerwise = false;  ///< true if the update needs each layer's weights as a separate range
  /// Names of the state tensors, as in torch.
  [[nodiscard]] std::vector<std::string_view> state() const {
    return momentum > 0.0 ? std::vector<std::string_view>{"momentum_buffer"} : std::vector<std::string_view>{};
  }
  /// Calls visit(name, value, range, meaning) for each numeric option, and visit(name, value, meaning) for each flag.
  template <typename Rule, typename Visit>
  static void visit_options(Rule& rule, const Visit& visit) {
    visit("momentum", rule.momentum, kShareBelowOne, "");
    visit("nesterov", rule.nesterov, "");
  }
  /// Throws ConfigError for options that exclude each other.
  void check() const {
    if (!nesterov || momentum > 0.0) return;
    throw ConfigError(error_text("train.optimizer", "nesterov=true", "a momentum above 0", "momentum = 0",
                                 "--set optimizer.momentum=0.9, or --set optimizer.nesterov=false"));
  }
};

}  // namespace roentgen::engine
