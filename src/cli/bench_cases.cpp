// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/bench_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bench/harness.h"
#include "core/error.h"

namespace roentgen::cli {

unsigned bit_of(std::string_view name) {
  const auto* const found = std::ranges::find(kBenchCases, name, &BenchCase::name);
  return found == kBenchCases.end() ? kOther : found->bit;
}

std::vector<std::string_view> all_cases() {
  std::vector<std::string_view> names;
  for (const auto& [name, bit] : kBenchCases) names.push_back(name);
  std::ranges::copy_if(bench::case_names(), std::back_inserter(names),
                       [](std::string_view name) { return bit_of(name) == kOther; });
  return names;
}

void check_case(std::string_view name) {
  const std::vector<std::string_view> names = all_cases();
  if (std::ranges::find(names, name) != names.end()) return;
  throw ConfigError(error_text("bench.case", "case", fmt::format("one of {}", fmt::join(names, ", ")), name,
                               "roentgen bench --list"));
}

std::string names_of(unsigned cases) {
  std::string text;
  for (const auto& [name, bit] : kBenchCases) {
    if ((cases & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

std::string held(const Target& target) {
  return std::visit(
      [](const auto* value) {
        if constexpr (std::is_same_v<decltype(value), const std::vector<std::string>*>) {
          return fmt::format("{}", fmt::join(*value, "\n"));
        } else if constexpr (std::is_same_v<decltype(value), const std::filesystem::path*>) {
          return value->string();
        } else {
          return fmt::format("{}", *value);
        }
      },
      target);
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto comma = text.find(',');
    names.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return names;
}

}  // namespace roentgen::cli
