// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adam (Kingma & Ba 2015) as torch.optim.Adam, and AdamW (Loshchilov & Hutter 2019) as torch.optim.AdamW:
//   g = scale * gradient (+ weight_decay * p, Adam);  p *= 1 - lr * weight_decay (AdamW)
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
#pragma once

#include <string_view>
#include <vector>

#include "engine/update/option.h"

namespace roentgen::engine {

/// Options of Adam and AdamW.
struct Adam {
  double beta1 = 0.9;      ///< decay rate of the mean of gradients
  double beta2 = 0.999;    ///< decay rate of the mean of squared gradients
  double epsilon = 1e-8;   ///< added to the denominator, outside the square root
  bool decoupled = false;  ///< AdamW: weight decay acts on the parameter directly, not through the gradient

  /// Names of this optimizer in recipes.
  static constexpr RecipeName<Adam> kNames[] = {
      {.name = "adam"}, {.name = "adamw", .meaning = "weight decay outside the gradient", .form = &Adam::decoupled}};
  static constexpr bool kIsLayerwise = false;  ///< true if the update needs each layer's weights as a separate range
  /// Names of the state tensors, as in torch.
  [[nodiscard]] std::vector<std::string_view> state() const { return {"exp_avg", "exp_avg_sq"}; }
  /// Calls visit(name, value, range, meaning) for each numeric option, and visit(name, value, meaning) for each flag.
  template <typename Rule, typename Visit>
  static void visit_options(Rule& rule, const Visit& visit) {
    visit("beta1", rule.beta1, kShareBelowOne, "");
    visit("beta2", rule.beta2, kShareBelowOne, "");
    visit("epsilon", rule.epsilon, kShareBetween, "");
  }
};

}  // namespace roentgen::engine
