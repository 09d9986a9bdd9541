// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lower case for words that are compared without regard to case.
#pragma once

#include <string>
#include <string_view>

namespace roentgen {

/// Converts the letters A to Z to lower case; all other bytes stay unchanged.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

}  // namespace roentgen
