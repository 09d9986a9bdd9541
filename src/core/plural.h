// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Singular or plural of a noun after a number: "1 image", "2 images".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roentgen {

/// `one` for a count of 1, else `many`, or `one` with an s where `many` is empty.
[[nodiscard]] inline std::string plural(std::int64_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + "s" : std::string(many);
}

/// The count and its word: "1 study", "3 studies".
[[nodiscard]] inline std::string counted(std::int64_t count, std::string_view one, std::string_view many = {}) {
  return std::to_string(count) + " " + plural(count, one, many);
}

}  // namespace roentgen
