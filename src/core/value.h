// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Value: the tree that recipes (TOML), machine-readable results (JSON) and checkpoint metadata share. The parsers and
// printers live in io (io/toml.h, io/json.h); this type knows no syntax.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace roentgen {

/// Value of a JSON or TOML document: null, bool, integer, double, string, array or table. Tables keep insertion order.
/// Thread-compatible value type.
class Value {
 public:
  using Array = std::vector<Value>;                          ///< items in order
  using Table = std::vector<std::pair<std::string, Value>>;  ///< keys and values in the order they were set

  Value() = default;
  Value(std::nullptr_t) {}                                                 ///< null
  Value(bool value) : data_(value) {}                                      ///< from a boolean
  Value(int value) : data_(static_cast<std::int64_t>(value)) {}            ///< from an integer
  Value(long value) : data_(static_cast<std::int64_t>(value)) {}           ///< from an integer
  Value(long long value) : data_(static_cast<std::int64_t>(value)) {}      ///< from an integer
  Value(unsigned value) : data_(static_cast<std::int64_t>(value)) {}       ///< from an integer
  Value(unsigned long value) : data_(static_cast<std::int64_t>(value)) {}  ///< from an integer
  Value(double value) : data_(value) {}                                    ///< from a number
  Value(const char* value) : data_(std::string(value)) {}                  ///< from a string
  Value(std::string_view value) : data_(std::string(value)) {}             ///< from a string
  Value(std::string value) : data_(std::move(value)) {}                    ///< from a string
  Value(Array value) : data_(std::move(value)) {}                          ///< from a list
  Value(Table value) : data_(std::move(value)) {}                          ///< from a table

  [[nodiscard]] static Value table() { return Value(Table{}); }  ///< an empty table
  [[nodiscard]] static Value array() { return Value(Array{}); }  ///< an empty array

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(data_); }   ///< true if null
  [[nodiscard]] bool is_bool() const { return std::holds_alternative<bool>(data_); }             ///< true if a boolean
  [[nodiscard]] bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }  ///< true if an integer
  /// True if a floating-point number.
  [[nodiscard]] bool is_double() const { return std::holds_alternative<double>(data_); }
  /// True if an integer or a double.
  [[nodiscard]] bool is_number() const { return is_integer() || is_double(); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(data_); }  ///< true if a string
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Array>(data_); }         ///< true if an array
  [[nodiscard]] bool is_table() const { return std::holds_alternative<Table>(data_); }         ///< true if a table
  /// Name of the type for errors: "string", "integer", ...
  [[nodiscard]] std::string_view kind() const;

  /// Returns the value as bool. This and the following functions throw ConfigError if the type differs.
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::int64_t as_integer() const;       ///< returns an integer
  [[nodiscard]] double as_double() const;              ///< returns a double, also from an integer
  [[nodiscard]] const std::string& as_string() const;  ///< returns a string
  [[nodiscard]] const Array& as_array() const;         ///< returns an array
  [[nodiscard]] Array& as_array();                     ///< returns an array that can be changed
  [[nodiscard]] const Table& as_table() const;         ///< returns a table
  [[nodiscard]] Table& as_table();                     ///< returns a table that can be changed

  /// Finds an entry of a table. Returns nullptr if this is not a table or has no such key.
  [[nodiscard]] const Value* find(std::string_view key) const;
  /// Returns an entry of a table. Throws ConfigError naming the key if it is absent.
  [[nodiscard]] const Value& at(std::string_view key) const;
  /// Adds or replaces an entry and returns it. If this is null, it becomes a table.
  Value& set(std::string_view key, Value value);
  /// Sets a value by its dotted path, such as "optimizer.lr". Creates missing tables.
  Value& set_path(std::string_view dotted, Value value);
  /// Finds a value by its dotted path. Returns nullptr if it is absent.
  [[nodiscard]] const Value* find_path(std::string_view dotted) const;
  /// Appends to an array. If this is null, it becomes an array.
  void push_back(Value value);

  friend bool operator==(const Value&, const Value&) = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> data_;
};

}  // namespace roentgen
