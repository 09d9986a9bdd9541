// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Keys in which two recipes differ.
#pragma once

#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::score {

/// One key with both values; null where a recipe has no such key.
struct RecipeDifference {
  std::string key;  ///< "section.key"
  Value a;          ///< value in the first recipe
  Value b;          ///< value in the second one
  friend bool operator==(const RecipeDifference&, const RecipeDifference&) = default;
};

/// The keys "section.key" whose values differ, in the order of `a`, then those that only `b` has. Tables below a
/// section are compared whole.
[[nodiscard]] std::vector<RecipeDifference> recipe_differences(const Value& a, const Value& b);

/// A table for a terminal, or a line that says they are equal. Ends with a newline.
[[nodiscard]] std::string to_text(const std::vector<RecipeDifference>& differences);
/// For JSON: {key: {"a", "b"}}.
[[nodiscard]] Value to_value(const std::vector<RecipeDifference>& differences);

}  // namespace roentgen::score
