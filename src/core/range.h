// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Range: the numbers that an option or a key of a recipe accepts.
#pragma once

#include <limits>

namespace roentgen {

/// Range of numbers from `low` to `high`. Both are included unless a flag excludes them.
struct Range {
  double low = -std::numeric_limits<double>::infinity();  ///< smallest number
  double high = std::numeric_limits<double>::infinity();  ///< largest number
  bool is_above_low = false;                              ///< true if `low` itself is excluded
  bool is_below_high = false;                             ///< true if `high` itself is excluded

  /// True if `value` lies in the range.
  [[nodiscard]] bool contains(double value) const {
    return (is_above_low ? value > low : value >= low) && (is_below_high ? value < high : value <= high);
  }
};

}  // namespace roentgen
