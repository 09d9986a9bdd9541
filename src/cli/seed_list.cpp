// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/seed_list.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/comma_list.h"
#include "core/error.h"

namespace roentgen::cli {

std::vector<std::int64_t> parse_seeds(std::string_view text) {
  constexpr std::int64_t kLargestSeed = 1'000'000'000;
  const auto refuse = [&] {
    throw ConfigError(error_text("cli.arguments", "train --seeds",
                                 "distinct whole numbers with commas between, 0 or more", std::string(text),
                                 "--seeds 0,1,2"));
  };
  std::vector<std::int64_t> seeds;
  for (const std::string_view part : comma_parts(text)) {
    std::int64_t seed = -1;
    const char* last = part.data() + part.size();
    const auto [end, error] = std::from_chars(part.data(), last, seed);
    if (error != std::errc() || end != last || seed < 0 || seed > kLargestSeed) refuse();
    if (std::ranges::find(seeds, seed) != seeds.end()) refuse();
    seeds.push_back(seed);
  }
  return seeds;
}

}  // namespace roentgen::cli
