// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lists as options and recipes write them: "a,b,c".
#pragma once

#include <string_view>
#include <vector>

namespace roentgen {

/// Splits a text at commas. Keeps empty parts: "" has one part, "a," has two. The parts are views of `text`.
[[nodiscard]] inline std::vector<std::string_view> comma_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace roentgen
