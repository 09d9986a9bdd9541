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

/// Range of an integer argument, both ends included.
struct Range {
  std::int64_t least = 0;                                        ///< smallest value
  std::int64_t most = std::numeric_limits<std::int64_t>::max();  ///< largest value
};

/// Returns `value`; ConfigError naming the argument if it lies outside of `range`.
/// @param thing room and thing of the error: "python.loader"
[[nodiscard]] std::int64_t within(std::int64_t value, Range range, std::string_view thing, std::string_view name);

/// Reads entries of a table, which must outlive it.
class OptionReader {
 public:
  /// @param thing room and thing of its errors
  OptionReader(const Value& table, std::string_view thing) : table_(table), thing_(thing) {}

  /// ConfigError where the entry is absent, no integer, or out of range.
  [[nodiscard]] std::int64_t integer(std::string_view name, Range range) const;
  /// ConfigError where the entry is absent, no number, or not from 0 to 1.
  [[nodiscard]] double share(std::string_view name) const;
  /// ConfigError where the entry is absent or no text.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// ConfigError where the entry is absent or no list of integers from 0 to `count` - 1.
  [[nodiscard]] std::vector<std::uint32_t> indices(std::string_view name, std::size_t count) const;

 private:
  [[noreturn]] void refuse(std::string_view name, std::string_view expected) const;

  const Value& table_;
  const std::string_view thing_;
};

}  // namespace roentgen::python
