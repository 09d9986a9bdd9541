// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/sweep_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/arguments.h"
#include "io/sha256.h"

namespace roentgen::cli {
namespace {

constexpr std::size_t kLongestFolder = 120;  // file systems allow 255 bytes
constexpr std::size_t kHashDigits = 8;
constexpr std::string_view kExample = "--sweep optimizer.lr=1e-3,1e-4";

[[noreturn]] void refuse(std::string_view expected, std::string_view got, std::string_view remedy = kExample) {
  refuse_arguments("train --sweep", expected, got, remedy);
}

// Splits a text at the commas that are outside of brackets and quotes.
std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  return values;
}

SweptKey parse_key(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.find('.') > equals) {
    refuse("section.key=values", text, "roentgen train --keys for all keys");
  }
  SweptKey swept{.key = text.substr(0, equals), .values = split_values(std::string_view(text).substr(equals + 1))};
  if (swept.values.size() < 2 || std::ranges::find(swept.values, "") != swept.values.end()) {
    refuse("two or more values, separated by commas", text);
  }
  for (auto value = swept.values.begin(); value != swept.values.end(); ++value) {
    if (std::find(swept.values.begin(), value, *value) != value) refuse("distinct values", text);
  }
  return swept;
}

bool is_harmless(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '=' ||
         c == '_' || c == '+' || c == '-';
}

}  // namespace

std::vector<SweptKey> parse_sweep(std::span<const std::string> texts, std::span<const std::string> overrides) {
  std::vector<SweptKey> keys;
  for (const std::string& text : texts) {
    SweptKey swept = parse_key(text);
    if (swept.key == "train.seed") refuse("a key other than train.seed", text, "--seeds 0,1,2");
    if (std::ranges::find(keys, swept.key, &SweptKey::key) != keys.end()) {
      refuse("each key once", swept.key + " twice", "all values in one --sweep");
    }
    const bool is_set =
        std::ranges::any_of(overrides, [&](const std::string& set) { return set.starts_with(swept.key + "="); });
    if (is_set) refuse_arguments("train", "--sweep or --set of " + swept.key, "both", "--sweep alone");
    keys.push_back(std::move(swept));
  }
  return keys;
}

std::vector<SweepPoint> sweep_points(std::span<const SweptKey> keys) {
  std::vector<SweepPoint> points(1);
  for (const SweptKey& swept : keys) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points) {
      for (const std::string& value : swept.values) {
        SweepPoint next = point;
        next.values.push_back(value);
        next.overrides.push_back(fmt::format("{}={}", swept.key, value));
        longer.push_back(std::move(next));
      }
    }
    points = std::move(longer);
  }
  for (SweepPoint& point : points) {
    point.name = fmt::format("{}", fmt::join(point.overrides, ", "));
    point.folder = folder_name(point.overrides);
  }
  return points;
}

std::string folder_name(std::span<const std::string> overrides) {
  const std::string whole = fmt::format("{}", fmt::join(overrides, "_"));
  std::string name = whole.substr(0, kLongestFolder);
  std::ranges::replace_if(
      name, [](char c) { return !is_harmless(c); }, '-');
  if (name == whole) return name;
  // Newlines keep apart ["a=1_b=2"] and ["a=1", "b=2"].
  return fmt::format("{}_{}", name,
                     io::sha256_hex(fmt::format("{}", fmt::join(overrides, "\n"))).substr(0, kHashDigits));
}

}  // namespace roentgen::cli
