// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parts of an update rule's options struct: the ranges that options accept, and the rule's names in recipes.
#pragma once

#include <string_view>

#include "core/range.h"

namespace roentgen::engine {

inline constexpr Range kShareBelowOne{.low = 0, .high = 1, .is_below_high = true};  ///< [0, 1)
/// (0, 1).
inline constexpr Range kShareBetween{.low = 0, .high = 1, .is_above_low = true, .is_below_high = true};

/// Name of a rule in recipes.
template <typename Rule>
struct RecipeName {
  using Flag = bool Rule::*;  ///< one of the rule's options
  std::string_view name;
  std::string_view meaning{};  ///< for people who choose one; empty: torch's optimizer of that name
  Flag form = nullptr;         ///< flag that this name sets and no key does; null: none
};

}  // namespace roentgen::engine
