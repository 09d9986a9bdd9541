// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers for the options struct of an update rule: ranges of valid values, and the rule's names in recipes.
#pragma once

#include <string_view>

#include "core/range.h"

namespace roentgen::engine {

inline constexpr Range kShareBelowOne{.low = 0, .high = 1, .is_below_high = true};  ///< range [0, 1)
/// Range (0, 1).
inline constexpr Range kShareBetween{.low = 0, .high = 1, .is_above_low = true, .is_below_high = true};

/// Name of an update rule in recipes.
template <typename Rule>
struct RecipeName {
  using Flag = bool Rule::*;  ///< pointer to a bool member of the rule's options
  std::string_view name;
  std::string_view meaning{};  ///< short description for users; empty if the rule equals torch's optimizer of that name
  Flag form = nullptr;         ///< option that this name sets to true and that has no recipe key; null if none
};

}  // namespace roentgen::engine
