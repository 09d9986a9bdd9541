// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sum of gradients: target += source, or target = source for the first of them.
#pragma once

#include <string_view>
#include <vector>

namespace roentgen::engine {

/// Options of the rule. UpdateWork's lr, step and scale are of no account.
struct Accumulate {
  bool is_first = false;  ///< overwrites the target

  static constexpr bool kIsLayerwise = false;  ///< whether a layer's weights must be one range
  /// Names of the state: none.
  [[nodiscard]] std::vector<std::string_view> state() const { return {}; }
};

}  // namespace roentgen::engine
