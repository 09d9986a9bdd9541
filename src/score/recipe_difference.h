// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the keys whose values differ between two recipes.
#pragma once

#include <string>
#include <vector>

#include "core/value.h"

namespace roentgen::score {

/// Key with its values in two recipes; null for a recipe without this key.
struct RecipeDifference {
  std::string key;  ///< "section.key"
  Value a;          ///< value in the first recipe
  Value b;          ///< value in the second recipe
  friend bool operator==(const RecipeDifference&, const RecipeDifference&) = default;
};

/// Returns the keys "section.key" whose values differ: first those of `a` in its order, then those that only `b` has.
/// Tables inside a section are compared as a whole.
[[nodiscard]] std::vector<RecipeDifference> recipe_differences(const Value& a, const Value& b);

/// Returns a text table for a terminal, or a line that says that the recipes are equal. Ends with a newline.
[[nodiscard]] std::string to_text(const std::vector<RecipeDifference>& differences);
/// Returns the differences for JSON: {key: {"a", "b"}}.
[[nodiscard]] Value to_value(const std::vector<RecipeDifference>& differences);

}  // namespace roentgen::score
