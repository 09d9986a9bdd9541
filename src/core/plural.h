// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Singular or plural of a noun after a number: "1 image", "2 images".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roentgen {

/// Returns `one` if count is 1, else `many`. If `many` is empty, it is `one` with an s appended.
[[nodiscard]] inline std::string plural(std::int64_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + "s" : std::string(many);
}

/// Returns the count followed by its noun: "1 study", "3 studies".
[[nodiscard]] inline std::string counted(std::int64_t count, std::string_view one, std::string_view many = {}) {
  return std::to_string(count) + " " + plural(count, one, many);
}

}  // namespace roentgen
