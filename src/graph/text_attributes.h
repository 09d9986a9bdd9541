// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// AttributeReader: gives an op's attributes the values written in a line of graph text. Private to the parser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/attributes.h"
#include "graph/text.h"

namespace roentgen::graph {

/// Parses an integer, or one of the letters N, C, S and K, by `symbols`. Throws Refusal naming `name` for other text
/// and for values above 2^31.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, std::string_view name, const Symbols& symbols);

/// Reads attributes by name from a line of graph text. Throws Refusal (text_cursor.h) for invalid values.
class AttributeReader final : public AttributeVisitor {
 public:
  /// Takes the attributes of one line. They are views into the line's text; `symbols` must outlive the reader.
  AttributeReader(std::unordered_map<std::string_view, std::string_view> given, const Symbols& symbols)
      : given_(std::move(given)), symbols_(symbols) {}

  /// Product of all integers and window sizes that were read. Times the number of input elements, it is an upper bound
  /// for all sizes in shape inference.
  [[nodiscard]] double work() const { return work_; }
  /// Throws Refusal if the line contains an attribute that the op does not have.
  void expect_all_used() const;

  void integer(std::string_view name, std::int64_t& value, std::int64_t default_value) override;
  void number(std::string_view name, double& value, double default_value) override;
  void flag(std::string_view name, bool& value, bool default_value) override;
  void extent(std::string_view name, Extent& value, Extent default_value) override;
  void init(std::string_view name, Init& value, const Init& default_value) override;
  void numbers(std::string_view name, std::vector<double>& value) override;
  void word(std::string_view name, int& value, int default_value, const std::vector<std::string_view>& words) override;

 private:
  std::optional<std::string_view> take(std::string_view name);

  std::unordered_map<std::string_view, std::string_view> given_;
  const Symbols& symbols_;
  std::string known_;
  double work_ = 1.0;
};

}  // namespace roentgen::graph
