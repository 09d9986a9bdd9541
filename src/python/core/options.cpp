// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/core/options.h"

#include <fmt/format.h>

#include <string>

#include "core/error.h"

namespace roentgen::python {

std::int64_t within(std::int64_t value, Range range, std::string_view thing, std::string_view name) {
  if (value >= range.least && value <= range.most) return value;
  const bool is_open = range.most == std::numeric_limits<std::int64_t>::max();
  throw ConfigError(error_text(thing, name,
                               is_open ? fmt::format("a number of at least {}", range.least)
                                       : fmt::format("a number from {} to {}", range.least, range.most),
                               fmt::to_string(value), "another number"));
}

std::int64_t OptionReader::integer(std::string_view name, Range range) const {
  const Value* value = table_.find(name);
  if (value == nullptr || !value->is_integer()) refuse(name, "a whole number");
  return within(value->as_integer(), range, thing_, name);
}

double OptionReader::share(std::string_view name) const {
  const Value* value = table_.find(name);
  if (value == nullptr || !value->is_number()) refuse(name, "a number");
  const double share = value->as_double();
  if (share >= 0.0 && share <= 1.0) return share;
  throw ConfigError(error_text(thing_, name, "a fraction from 0 to 1", fmt::to_string(share), "0.01"));
}

const std::string& OptionReader::text(std::string_view name) const {
  const Value* value = table_.find(name);
  if (value == nullptr || !value->is_string()) refuse(name, "text");
  return value->as_string();
}

std::vector<std::uint32_t> OptionReader::indices(std::string_view name, std::size_t count) const {
  const Value* value = table_.find(name);
  if (value == nullptr || !value->is_array()) refuse(name, "a list of whole numbers");
  std::vector<std::uint32_t> indices;
  for (const Value& item : value->as_array()) {
    if (!item.is_integer()) refuse(name, "a list of whole numbers");
    const Range range{.least = 0, .most = static_cast<std::int64_t>(count) - 1};
    indices.push_back(static_cast<std::uint32_t>(within(item.as_integer(), range, thing_, name)));
  }
  return indices;
}

void OptionReader::refuse(std::string_view name, std::string_view expected) const {
  const Value* value = table_.find(name);
  throw ConfigError(
      error_text(thing_, name, expected, value == nullptr ? "none" : value->kind(), "a value of that kind"));
}

}  // namespace roentgen::python
