// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/recipe_difference.h"

#include <algorithm>

#include "eval/text_columns.h"
#include "io/json.h"

namespace roentgen::score {
namespace {

std::string value_text(const Value& value) { return value.is_null() ? "-" : io::to_json(value, -1); }

Value value_of(const Value* value) { return value == nullptr ? Value() : *value; }

}  // namespace

std::vector<RecipeDifference> recipe_differences(const Value& a, const Value& b) {
  std::vector<RecipeDifference> differences;
  const auto visit = [&](const Value& recipe) {
    for (const auto& [section, table] : recipe.as_table()) {
      for (const auto& [name, ignored] : table.as_table()) {
        const std::string key = section + "." + name;
        const Value* in_a = a.find_path(key);
        const Value* in_b = b.find_path(key);
        if (in_a != nullptr && in_b != nullptr && *in_a == *in_b) continue;
        if (std::ranges::find(differences, key, &RecipeDifference::key) != differences.end()) continue;
        differences.push_back({.key = key, .a = value_of(in_a), .b = value_of(in_b)});
      }
    }
  };
  visit(a);
  visit(b);
  return differences;
}

std::string to_text(const std::vector<RecipeDifference>& differences) {
  if (differences.empty()) return "recipes: equal in every key\n";
  std::vector<eval::TextRow> rows{{"recipe key", "A", "B"}};
  for (const RecipeDifference& one : differences) rows.push_back({one.key, value_text(one.a), value_text(one.b)});
  return eval::in_columns(std::move(rows), eval::LastLine::Alike);
}

Value to_value(const std::vector<RecipeDifference>& differences) {
  Value keys = Value::table();
  for (const RecipeDifference& one : differences) keys.set(one.key, Value::Table{{"a", one.a}, {"b", one.b}});
  return keys;
}

}  // namespace roentgen::score
