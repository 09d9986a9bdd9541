// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Exponential moving average: target += share * (source - target), in float32.
#pragma once

#include <string_view>
#include <vector>

namespace roentgen::engine {

/// Options of the rule. UpdateWork's lr, step and scale are of no account.
struct Average {
  double share = 0.0;  ///< share of the source, 0 to 1

  static constexpr bool kIsLayerwise = false;  ///< whether a layer's weights must be one range
  /// Names of the state: none.
  [[nodiscard]] std::vector<std::string_view> state() const { return {}; }
};

}  // namespace roentgen::engine
