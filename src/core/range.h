// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Range: the numbers that an option or a key of a recipe accepts.
#pragma once

#include <limits>

namespace roentgen {

/// Numbers from `low` to `high`, both included.
struct Range {
  double low = -std::numeric_limits<double>::infinity();  ///< least number
  double high = std::numeric_limits<double>::infinity();  ///< greatest number
  bool is_above_low = false;                              ///< `low` itself is refused
  bool is_below_high = false;                             ///< `high` itself is refused

  /// Whether `value` lies in the range.
  [[nodiscard]] bool contains(double value) const {
    return (is_above_low ? value > low : value >= low) && (is_below_high ? value < high : value <= high);
  }
};

}  // namespace roentgen
