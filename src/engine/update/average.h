// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Exponential moving average: target += share * (source - target), in float32.
#pragma once

#include <string_view>
#include <vector>

namespace roentgen::engine {

/// Options of the moving average, which ignores lr, step and scale of UpdateWork.
struct Average {
  double share = 0.0;  ///< weight of the source in the average, 0 to 1

  static constexpr bool kIsLayerwise = false;  ///< true if the update needs each layer's weights as a separate range
  /// Names of the state tensors: none.
  [[nodiscard]] std::vector<std::string_view> state() const { return {}; }
};

}  // namespace roentgen::engine
