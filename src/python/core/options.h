// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads options from Python as entries of a table. Every error names the argument.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::python {

/// Allowed range of an integer argument, both ends included.
struct Range {
  std::int64_t least = 0;                                        ///< smallest value
  std::int64_t most = std::numeric_limits<std::int64_t>::max();  ///< largest value
};

/// Returns `value`. Throws ConfigError that names the argument if `value` lies outside of `range`.
/// @param thing prefix of the error text, such as "python.loader"
[[nodiscard]] std::int64_t within(std::int64_t value, Range range, std::string_view thing, std::string_view name);

/// Reads options from a table, which must outlive this object.
class OptionReader {
 public:
  /// @param thing prefix of the error texts, such as "python.loader"
  OptionReader(const Value& table, std::string_view thing) : table_(table), thing_(thing) {}

  /// Integer option. Throws ConfigError if it is missing, no integer, or out of range.
  [[nodiscard]] std::int64_t integer(std::string_view name, Range range) const;
  /// Option that is a number from 0 to 1. Throws ConfigError if it is missing, no number, or out of range.
  [[nodiscard]] double share(std::string_view name) const;
  /// Text option. Throws ConfigError if it is missing or no text.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// Option that is a list of indices. Throws ConfigError if it is missing or no list of integers from 0 to `count` -
  /// 1.
  [[nodiscard]] std::vector<std::uint32_t> indices(std::string_view name, std::size_t count) const;

 private:
  [[noreturn]] void refuse(std::string_view name, std::string_view expected) const;

  const Value& table_;
  const std::string_view thing_;
};

}  // namespace roentgen::python
