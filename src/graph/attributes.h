// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of an op's attributes to text and back: one visitor, written once per op, serves printer and parser.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/parameter.h"

namespace roentgen::graph {

/// Height and width, such as those of a pooling window, in pixels.
struct Extent {
  std::int64_t height = 1;  ///< number of rows
  std::int64_t width = 1;   ///< number of columns
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Visits an op's attributes by name, to print or parse them. The printer omits attributes that equal their default.
/// The parser accepts any order and refuses unknown names.
class AttributeVisitor {
 public:
  virtual ~AttributeVisitor() = default;
  virtual void integer(std::string_view name, std::int64_t& value, std::int64_t default_value) = 0;  ///< a whole number
  virtual void number(std::string_view name, double& value, double default_value) = 0;               ///< a number
  virtual void flag(std::string_view name, bool& value, bool default_value) = 0;                     ///< "yes" or "no"
  /// Visits height and width, printed as "3x3".
  virtual void extent(std::string_view name, Extent& value, Extent default_value) = 0;
  virtual void init(std::string_view name, Init& value, const Init& default_value) = 0;  ///< how a parameter starts
  /// A list of numbers; an empty list is not printed.
  virtual void numbers(std::string_view name, std::vector<double>& value) = 0;
  /// Visits an attribute whose value is one of the texts `words`; `value` is the index of the text.
  virtual void word(std::string_view name, int& value, int default_value,
                    const std::vector<std::string_view>& words) = 0;
};

}  // namespace roentgen::graph
