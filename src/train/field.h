// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How the keys of a recipe are declared once and then read, printed and documented: one visitor, as for op attributes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/value.h"

namespace roentgen::train {

/// Numbers a key accepts: low ... high, both included.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  /// The end itself is refused.
  bool is_above_low = false;
  bool is_below_high = false;
  [[nodiscard]] bool contains(double value) const {
    return (is_above_low ? value > low : value >= low) && (is_below_high ? value < high : value <= high);
  }
};

/// Words a key accepts; empty: any text.
using Words = std::vector<std::string_view>;

/// Visits a recipe's keys in order. `doc` is one line for people.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  /// Keys that follow belong to this table.
  virtual void section(std::string_view name, std::string_view doc) = 0;
  virtual void text(std::string_view name, std::string& value, const Words& words, std::string_view doc) = 0;
  virtual void integer(std::string_view name, std::int64_t& value, Range range, std::string_view doc) = 0;
  virtual void number(std::string_view name, double& value, Range range, std::string_view doc) = 0;
  virtual void flag(std::string_view name, bool& value, std::string_view doc) = 0;
  virtual void numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view doc) = 0;
  /// A whole section whose keys another room declares and reads.
  /// @param keys what it may hold; empty: that room refuses what it does not know
  virtual void foreign(std::string_view section, Value& table, const Words& keys, std::string_view doc) = 0;
};

/// Reads keys out of `source`; what is absent keeps its value. ConfigError naming the key and the file.
class FieldReader final : public FieldVisitor {
 public:
  /// @param source a table of tables; must outlive the reader
  /// @param what   name of the file, for errors
  FieldReader(const Value& source, std::string_view what) : source_(source), what_(what) {}

  void section(std::string_view name, std::string_view doc) override;
  void text(std::string_view name, std::string& value, const Words& words, std::string_view doc) override;
  void integer(std::string_view name, std::int64_t& value, Range range, std::string_view doc) override;
  void number(std::string_view name, double& value, Range range, std::string_view doc) override;
  void flag(std::string_view name, bool& value, std::string_view doc) override;
  void numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view doc) override;
  void foreign(std::string_view section, Value& table, const Words& keys, std::string_view doc) override;

  /// Refuses every section and key of the source that was not visited, with the nearest name that was.
  void refuse_unknown() const;

 private:
  const Value* find(std::string_view name);
  [[noreturn]] void refuse(std::string_view name, std::string_view expected, const Value& got) const;
  [[noreturn]] void refuse_section(const std::string& name, const Value& value) const;
  void check_word(std::string_view name, const Value& got, const Words& words) const;
  void check_range(std::string_view name, const Value& got, Range range) const;

  const Value& source_;
  std::string what_;
  std::string section_;
  /// Dotted names visited so far, and the sections.
  std::vector<std::string> known_;
  std::vector<std::string> sections_;
  std::vector<std::string> foreign_;
};

/// Collects all keys with their values into one table of tables.
class FieldPrinter final : public FieldVisitor {
 public:
  void section(std::string_view name, std::string_view doc) override;
  void text(std::string_view name, std::string& value, const Words& words, std::string_view doc) override;
  void integer(std::string_view name, std::int64_t& value, Range range, std::string_view doc) override;
  void number(std::string_view name, double& value, Range range, std::string_view doc) override;
  void flag(std::string_view name, bool& value, std::string_view doc) override;
  void numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view doc) override;
  void foreign(std::string_view section, Value& table, const Words& keys, std::string_view doc) override;
  [[nodiscard]] const Value& value() const { return root_; }

 private:
  void put(std::string_view name, Value value);
  Value root_ = Value::table();
  std::string section_;
};

/// Lists all keys with value, choices and doc: `roentgen train --keys`.
class FieldLister final : public FieldVisitor {
 public:
  void section(std::string_view name, std::string_view doc) override;
  void text(std::string_view name, std::string& value, const Words& words, std::string_view doc) override;
  void integer(std::string_view name, std::int64_t& value, Range range, std::string_view doc) override;
  void number(std::string_view name, double& value, Range range, std::string_view doc) override;
  void flag(std::string_view name, bool& value, std::string_view doc) override;
  void numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view doc) override;
  void foreign(std::string_view section, Value& table, const Words& keys, std::string_view doc) override;
  [[nodiscard]] const std::string& list() const { return list_; }

 private:
  void line(std::string_view name, std::string_view value, std::string_view choices, std::string_view doc);
  std::string list_;
};

/// The candidate with the smallest edit distance to `text`, or empty when none is near (more than a third of its
/// letters apart).
[[nodiscard]] std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace roentgen::train
