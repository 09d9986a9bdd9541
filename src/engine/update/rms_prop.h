// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RMSProp (Tieleman & Hinton 2012, lecture 6.5 of "Neural Networks for Machine Learning") as torch.optim.RMSprop:
//   g = scale * gradient + weight_decay * p;  v = alpha v + (1 - alpha) g^2
//   centered: a = alpha a + (1 - alpha) g;  d = sqrt(max(v - a^2, 0)) + epsilon, else d = sqrt(v) + epsilon
//   b = momentum * b + g / d;  p -= lr * (momentum > 0 ? b : g / d)
// torch does not limit v - a^2 to 0 or more: if rounding makes it negative, its square root is NaN. RMSprop in
// TensorFlow and Keras differs: epsilon is inside the root, d = sqrt(v + epsilon), and lr inside the buffer, b =
// momentum * b + lr * g / d. Keras calls alpha "rho". An epsilon e in Keras corresponds to about sqrt(e) here. When a
// schedule lowers lr, the buffer in Keras still holds steps of the old lr.
#pragma once

#include <string_view>
#include <vector>

#include "engine/update/option.h"

namespace roentgen::engine {

/// Options of RMSProp. Defaults are torch's, except momentum, which is 0 in torch.
struct RmsProp {
  double momentum = 0.9;  ///< 0: no momentum, and no state for it
  double alpha = 0.99;    ///< decay rate of the mean of squared gradients
  double epsilon = 1e-8;  ///< added to the denominator, outside the square root
  bool centered = false;  ///< divides by the standard deviation of gradients instead of their root mean square

  /// Names of this optimizer in recipes.
  static constexpr RecipeName<RmsProp> kNames[] = {{.name = "rmsprop"}};
  static constexpr bool kIsLayerwise = false;  ///< true if the update needs each layer's weights as a separate range
  /// Names of the state tensors, as in torch.
  [[nodiscard]] std::vector<std::string_view> state() const {
    std::vector<std::string_view> names{"square_avg"};
    if (momentum > 0.0) names.emplace_back("momentum_buffer");
    if (centered) names.emplace_back("grad_avg");
    return names;
  }
  /// Calls visit(name, value, range, meaning) for each numeric option, and visit(name, value, meaning) for each flag.
  template <typename Rule, typename Visit>
  static void visit_options(Rule& rule, const Visit& visit) {
    visit("momentum", rule.momentum, kShareBelowOne, "");
    visit("alpha", rule.alpha, kShareBelowOne, "decay rate of the mean of squared gradients");
    visit("epsilon", rule.epsilon, kShareBetween, "");
    visit("centered", rule.centered, "divide by the standard deviation of gradients, not their root mean square");
  }
};

}  // namespace roentgen::engine
