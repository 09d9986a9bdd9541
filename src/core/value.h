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

/// Null, bool, integer, double, string, array or table. Tables keep insertion order. Thread-compatible value type.
class Value {
 public:
  using Array = std::vector<Value>;
  using Table = std::vector<std::pair<std::string, Value>>;

  Value() = default;
  Value(std::nullptr_t) {}
  Value(bool value) : data_(value) {}
  Value(int value) : data_(static_cast<std::int64_t>(value)) {}
  Value(long value) : data_(static_cast<std::int64_t>(value)) {}
  Value(long long value) : data_(static_cast<std::int64_t>(value)) {}
  Value(unsigned value) : data_(static_cast<std::int64_t>(value)) {}
  Value(unsigned long value) : data_(static_cast<std::int64_t>(value)) {}
  Value(double value) : data_(value) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(std::string_view value) : data_(std::string(value)) {}
  Value(std::string value) : data_(std::move(value)) {}
  Value(Array value) : data_(std::move(value)) {}
  Value(Table value) : data_(std::move(value)) {}

  [[nodiscard]] static Value table() { return Value(Table{}); }
  [[nodiscard]] static Value array() { return Value(Array{}); }

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] bool is_bool() const { return std::holds_alternative<bool>(data_); }
  [[nodiscard]] bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  [[nodiscard]] bool is_double() const { return std::holds_alternative<double>(data_); }
  /// Integer or double.
  [[nodiscard]] bool is_number() const { return is_integer() || is_double(); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(data_); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Array>(data_); }
  [[nodiscard]] bool is_table() const { return std::holds_alternative<Table>(data_); }
  /// "string", "integer", ... for error texts.
  [[nodiscard]] std::string_view kind() const;

  /// Access by kind; ConfigError when the kind is another. as_double also takes an integer.
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] double as_double() const;
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const Array& as_array() const;
  [[nodiscard]] Array& as_array();
  [[nodiscard]] const Table& as_table() const;
  [[nodiscard]] Table& as_table();

  /// The entry of a table, or nullptr when this is no table or has no such key.
  [[nodiscard]] const Value* find(std::string_view key) const;
  /// The entry of a table; ConfigError naming the key when absent.
  [[nodiscard]] const Value& at(std::string_view key) const;
  /// Sets or replaces an entry; turns null into a table. Returns the stored value.
  Value& set(std::string_view key, Value value);
  /// As set(), by a dotted path: "optimizer.lr". Makes the tables on the way.
  Value& set_path(std::string_view dotted, Value value);
  /// Looks a dotted path up, or nullptr.
  [[nodiscard]] const Value* find_path(std::string_view dotted) const;
  /// Appends to an array; turns null into an array.
  void push_back(Value value);

  friend bool operator==(const Value&, const Value&) = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> data_;
};

}  // namespace roentgen
