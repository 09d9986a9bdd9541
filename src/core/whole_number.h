// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Whole numbers in texts of other programs, such as lists of hosts.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace roentgen {

/// Parses a text that consists of one to nine digits as a number; nullopt for any other text.
[[nodiscard]] inline std::optional<std::int64_t> whole_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || text.size() > kMostDigits || text.front() == '-') return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace roentgen
