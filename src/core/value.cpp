// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/value.h"

#include <array>

#include "core/error.h"

namespace roentgen {
namespace {
[[noreturn]] void wrong_kind(std::string_view expected, std::string_view got, std::string_view what = "value") {
  throw ConfigError(error_text("core.value", what, expected, got, "a value of that kind"));
}
}  // namespace

std::string_view Value::kind() const {
  constexpr std::array<std::string_view, 7> kNames{"nothing", "boolean", "integer", "number",
                                                   "string",  "array",   "table"};
  return kNames.at(data_.index());
}

bool Value::as_bool() const {
  if (!is_bool()) wrong_kind("true or false", kind());
  return std::get<bool>(data_);
}
std::int64_t Value::as_integer() const {
  if (!is_integer()) wrong_kind("an integer", kind());
  return std::get<std::int64_t>(data_);
}
double Value::as_double() const {
  if (is_integer()) return static_cast<double>(std::get<std::int64_t>(data_));
  if (!is_double()) wrong_kind("a number", kind());
  return std::get<double>(data_);
}
const std::string& Value::as_string() const {
  if (!is_string()) wrong_kind("a string", kind());
  return std::get<std::string>(data_);
}
const Value::Array& Value::as_array() const {
  if (!is_array()) wrong_kind("an array", kind());
  return std::get<Array>(data_);
}
Value::Array& Value::as_array() {
  if (!is_array()) wrong_kind("an array", kind());
  return std::get<Array>(data_);
}
const Value::Table& Value::as_table() const {
  if (!is_table()) wrong_kind("a table", kind());
  return std::get<Table>(data_);
}
Value::Table& Value::as_table() {
  if (!is_table()) wrong_kind("a table", kind());
  return std::get<Table>(data_);
}

const Value* Value::find(std::string_view key) const {
  if (!is_table()) return nullptr;
  for (const auto& [name, value] : std::get<Table>(data_)) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Value& Value::at(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) throw ConfigError(error_text("core.value", key, "a value", "none", "adding this key"));
  return *value;
}

Value& Value::set(std::string_view key, Value value) {
  if (is_null()) data_ = Table{};
  for (auto& [name, old] : as_table()) {
    if (name == key) {
      old = std::move(value);
      return old;
    }
  }
  return as_table().emplace_back(std::string(key), std::move(value)).second;
}

Value& Value::set_path(std::string_view dotted, Value value) {
  const std::size_t dot = dotted.find('.');
  if (dot == std::string_view::npos) return set(dotted, std::move(value));
  const std::string_view head = dotted.substr(0, dot);
  if (find(head) == nullptr) set(head, table());
  for (auto& [name, child] : as_table()) {
    if (name != head) continue;
    if (!child.is_table() && !child.is_null()) wrong_kind("a table", child.kind(), head);
    return child.set_path(dotted.substr(dot + 1), std::move(value));
  }
  wrong_kind("a table", kind());
}

const Value* Value::find_path(std::string_view dotted) const {
  const std::size_t dot = dotted.find('.');
  const Value* child = find(dotted.substr(0, dot));
  if (dot == std::string_view::npos || child == nullptr) return child;
  return child->find_path(dotted.substr(dot + 1));
}

void Value::push_back(Value value) {
  if (is_null()) data_ = Array{};
  as_array().push_back(std::move(value));
}

}  // namespace roentgen
