// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranges that options of update rules accept.
#pragma once

#include "core/range.h"

namespace roentgen::engine {

inline constexpr Range kShareBelowOne{.low = 0, .high = 1, .is_below_high = true};  ///< [0, 1)
/// (0, 1).
inline constexpr Range kShareBetween{.low = 0, .high = 1, .is_above_low = true, .is_below_high = true};

}  // namespace roentgen::engine
