// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/text.h"

namespace roentgen::io {
namespace {
// toml++ limits nested values to 256 levels but not dotted keys, and frees their tables by recursion. 256 x 32 levels
// fit on the stack.
constexpr std::size_t kLimitDots = 32;
constexpr int kLimitDepth = 200;

std::string place_of(std::string_view what, const toml::source_region& source) {
  return std::string(what) + ", line " + std::to_string(source.begin.line) + ", column " +
         std::to_string(source.begin.column);
}

/// Position after the string that starts at `start`, by TOML's rules; the end of the text if the string is not closed.
std::size_t skip_string(std::string_view text, std::size_t start) {
  const char quote = text[start];
  const std::string_view closing =
      text.substr(start, 3) == std::string(3, quote) ? text.substr(start, 3) : text.substr(start, 1);
  std::size_t i = start + closing.size();
  while (i < text.size() && text.substr(i, closing.size()) != closing) {
    if (closing.size() == 1 && text[i] == '\n') return i;
    i += quote == '"' && text[i] == '\\' ? 2 : 1;
  }
  return std::min(i + closing.size(), text.size());
}

/// Largest number of dots in any key.
std::size_t longest_dotted_key(std::string_view text) {
  std::size_t most = 0;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.') most = std::max(most, ++dots);
    if (c == '=' || c == ',' || c == '\n' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
    ++i;
  }
  return most;
}

Result<Value> convert(const toml::node& node, std::string_view what, int depth);

Result<Value> convert_array(const toml::array& array, std::string_view what, int depth) {
  Value result = Value::array();
  for (const toml::node& element : array) {
    Result<Value> value = convert(element, what, depth);
    if (!value) return value;
    result.push_back(std::move(value).value());
  }
  return result;
}

/// Converts a table. toml++ sorts tables by key; its source positions restore the written order.
Result<Value> convert_table(const toml::table& table, std::string_view what, int depth) {
  using Entry = std::pair<const toml::key*, const toml::node*>;
  std::vector<Entry> entries;
  for (auto&& [key, node] : table) entries.emplace_back(&key, &node);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    const toml::source_position& left = a.first->source().begin;
    const toml::source_position& right = b.first->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  Value::Table result;
  for (const auto& [key, node] : entries) {
    Result<Value> value = convert(*node, what, depth);
    if (!value) return value;
    result.emplace_back(std::string(key->str()), std::move(value).value());
  }
  return Value(std::move(result));
}

Result<Value> convert(const toml::node& node, std::string_view what, int depth) {
  if (depth == kLimitDepth) {
    return failure("io.toml", place_of(what, node.source()), "at most 200 levels of nesting", "more", "less nesting");
  }
  if (const auto* table = node.as_table()) return convert_table(*table, what, depth + 1);
  if (const auto* array = node.as_array()) return convert_array(*array, what, depth + 1);
  if (const auto* text = node.as_string()) return Value(text->get());
  if (const auto* integer = node.as_integer()) return Value(static_cast<long long>(integer->get()));
  if (const auto* number = node.as_floating_point()) return Value(number->get());
  if (const auto* flag = node.as_boolean()) return Value(flag->get());
  return failure("io.toml", place_of(what, node.source()), "a string, number, true, false, array or table",
                 "a date or time", "putting it in quotes");
}

/// Parses a document; fails if it is no valid TOML.
Result<toml::table> parse_document(std::string_view text, std::string_view what) {
  if (longest_dotted_key(text) > kLimitDots)
    return failure("io.toml", what, "at most 32 dots in a key", "more", "a shorter key");
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return failure("io.toml", place_of(what, error.source()), "TOML", error.description(), "correcting that line");
  }
}

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}
std::string key_text(std::string_view key) { return is_bare_key(key) ? std::string(key) : quote_string(key); }

/// True for an array that is printed as [[sections]].
bool is_table_array(const Value& value) {
  return value.is_array() && !value.as_array().empty() &&
         std::all_of(value.as_array().begin(), value.as_array().end(), [](const Value& v) { return v.is_table(); });
}

std::string inline_text(const Value& value) {
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_integer()) return std::to_string(value.as_integer());
  if (value.is_double()) return shortest(value.as_double());
  if (value.is_string()) return quote_string(value.as_string());
  std::string text;
  if (value.is_array()) {
    for (const Value& element : value.as_array()) {
      if (!element.is_null()) text += (text.empty() ? "" : ", ") + inline_text(element);
    }
    return "[" + text + "]";
  }
  for (const auto& [key, entry] : value.as_table()) {
    if (!entry.is_null()) text += (text.empty() ? "" : ", ") + key_text(key) + " = " + inline_text(entry);
  }
  return text.empty() ? "{}" : "{ " + text + " }";
}

void print_section(const Value::Table& table, const std::string& path, std::string& out);

/// Prints "[path]" or "[[path]]" and its content.
void print_headed(const Value::Table& table, const std::string& path, std::string_view brackets, std::string& out) {
  if (!out.empty()) out.push_back('\n');
  out +=
      std::string(brackets.substr(0, brackets.size() / 2)) + path + std::string(brackets.substr(brackets.size() / 2));
  out.push_back('\n');
  print_section(table, path, out);
}

void print_section(const Value::Table& table, const std::string& path, std::string& out) {
  for (const auto& [key, value] : table) {
    if (value.is_null() || value.is_table() || is_table_array(value)) continue;
    out += key_text(key) + " = " + inline_text(value) + "\n";
  }
  for (const auto& [key, value] : table) {
    const std::string below = path.empty() ? key_text(key) : path + "." + key_text(key);
    if (value.is_table()) print_headed(value.as_table(), below, "[]", out);
    if (!is_table_array(value)) continue;
    for (const Value& element : value.as_array()) print_headed(element.as_table(), below, "[[]]", out);
  }
}
}  // namespace

Result<Value> parse_toml(std::string_view text, std::string_view what) {
  const Result<toml::table> document = parse_document(text, what);
  if (!document) return document.why();
  return convert_table(document.value(), what, 1);
}

Result<Value> parse_toml_value(std::string_view text, std::string_view what) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return Value("");
  const std::string_view trimmed = text.substr(first, text.find_last_not_of(" \t") - first + 1);
  if (trimmed.find_first_of("\r\n") != std::string_view::npos) {
    return failure("io.toml", what, "a value on one line", "a line break", "removing the line break");
  }
  const Result<toml::table> document = parse_document("value = " + std::string(trimmed), what);
  if (document) return convert(*document.value().get("value"), what, 0);
  // A value that starts like a string, an array or a table was meant as TOML.
  if (std::string_view("\"'[{").find(trimmed.front()) == std::string_view::npos) return Value(trimmed);
  return failure("io.toml", what, "a TOML value", trimmed, "checking quotes and brackets");
}

std::string to_toml(const Value& table) {
  std::string out;
  print_section(table.as_table(), "", out);
  return out;
}

}  // namespace roentgen::io
