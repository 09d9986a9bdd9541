// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/json.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "io/file.h"
#include "io/text.h"

namespace roentgen::io {
namespace {
constexpr std::size_t kLimitDepth = 200;

/// Iterates over a text and tells the builder how far the lexer has read, because SAX events have no position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* position, const char** reached) : position_(position), reached_(reached) {}
  reference operator*() const { return *position_; }
  CountingIterator& operator++() {
    *reached_ = ++position_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.position_ == b.position_; }

 private:
  const char* position_;
  const char** reached_;
};

/// Builds a Value from nlohmann's SAX events. Its parser does not recurse, so the builder limits the depth. Method
/// names and signatures are those of nlohmann::json_sax.
class Builder {
 public:
  [[nodiscard]] const std::string& expected() const { return expected_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] Value take() { return std::move(root_); }

  bool null() { return add(Value()); }
  bool boolean(bool value) { return add(Value(value)); }
  bool number_integer(std::int64_t value) { return add(Value(static_cast<long long>(value))); }
  bool number_unsigned(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) return add(Value(static_cast<long long>(value)));
    return add(Value(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string& /*spelling*/) { return add(Value(value)); }
  bool string(std::string& value) { return add(Value(std::move(value))); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return refuse("JSON", "binary data"); }
  bool start_object(std::size_t /*elements*/) { return open(Value::table()); }
  bool start_array(std::size_t /*elements*/) { return open(Value::array()); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    open_.back()->as_table().emplace_back().first = std::move(name);
    return true;
  }

  bool end_object() {
    std::vector<std::string_view> names;
    for (const auto& entry : open_.back()->as_table()) names.push_back(entry.first);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
      return refuse("each key once in an object", "key " + quote_string(twice->substr(0, 100)) + " twice");
    }
    return close();
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& why) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ...": only the last part is used.
    std::string_view text = why.what();
    for (const std::string_view before : {std::string_view("] "), std::string_view("column ")}) {
      const std::size_t found = text.find(before);
      if (found != std::string_view::npos) text.remove_prefix(found + before.size());
    }
    const std::size_t colon = text.find(": ");
    if (colon < 12) text.remove_prefix(colon + 2);
    constexpr std::size_t kLimit = 200;
    return refuse("JSON", std::string(text.substr(0, kLimit)) + (text.size() > kLimit ? "..." : ""));
  }

 private:
  bool refuse(std::string expected, std::string problem) {
    expected_ = std::move(expected);
    problem_ = std::move(problem);
    return false;
  }

  /// Stores a value at the current position and returns a reference to it.
  Value* place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Value& parent = *open_.back();
    if (parent.is_table()) {
      Value& slot = parent.as_table().back().second;
      slot = std::move(value);
      return &slot;
    }
    parent.push_back(std::move(value));
    return &parent.as_array().back();
  }
  bool add(Value value) {
    place(std::move(value));
    return true;
  }
  bool open(Value value) {
    if (open_.size() == kLimitDepth) return refuse("at most 200 levels of nesting", "more");
    // The pointer stays valid, because a parent gets no new entries while a child is open.
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Value root_;
  std::vector<Value*> open_;
  std::string expected_;
  std::string problem_;
};

void print(const Value& value, int indent, int depth, std::string& out);

void new_line(int indent, int depth, std::string& out) {
  if (indent < 0) return;
  out.push_back('\n');
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void print_array(const Value::Array& array, int indent, int depth, std::string& out) {
  out.push_back('[');
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out.push_back(',');
    new_line(indent, depth + 1, out);
    print(array[i], indent, depth + 1, out);
  }
  if (!array.empty()) new_line(indent, depth, out);
  out.push_back(']');
}

void print_table(const Value::Table& table, int indent, int depth, std::string& out) {
  out.push_back('{');
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i > 0) out.push_back(',');
    new_line(indent, depth + 1, out);
    out += quote_string(table[i].first);
    out += indent < 0 ? ":" : ": ";
    print(table[i].second, indent, depth + 1, out);
  }
  if (!table.empty()) new_line(indent, depth, out);
  out.push_back('}');
}

void print(const Value& value, int indent, int depth, std::string& out) {
  if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_integer()) {
    out += std::to_string(value.as_integer());
  } else if (value.is_double()) {
    out += std::isfinite(value.as_double()) ? shortest(value.as_double()) : "null";
  } else if (value.is_string()) {
    out += quote_string(value.as_string());
  } else if (value.is_array()) {
    print_array(value.as_array(), indent, depth, out);
  } else {
    print_table(value.as_table(), indent, depth, out);
  }
}

std::string place_of(std::string_view what, std::string_view read) {
  const auto line = 1 + std::count(read.begin(), read.end(), '\n');
  const std::size_t last = read.find_last_of('\n');
  const std::size_t column = last == std::string_view::npos ? read.size() : read.size() - last - 1;
  return std::string(what) + ", line " + std::to_string(line) + ", column " + std::to_string(column);
}
}  // namespace

Result<Value> parse_json(std::string_view text, std::string_view what) {
  // The parser would treat a NUL as the end of the text.
  const std::size_t end = text.find('\0');
  if (end != std::string_view::npos && text.find_first_not_of('\0', end) != std::string_view::npos) {
    return failure("io.json", place_of(what, text.substr(0, end)), "JSON", "a zero byte followed by other bytes",
                   "a complete copy of the file");
  }
  Builder builder;
  const char* reached = text.data();
  const CountingIterator first(text.data(), &reached);
  const CountingIterator last(text.data() + text.size(), &reached);
  if (nlohmann::json::sax_parse(first, last, &builder)) return builder.take();
  const std::string_view read = text.substr(0, static_cast<std::size_t>(reached - text.data()));
  return failure("io.json", place_of(what, read), builder.expected(), builder.problem(), "a complete copy of the file");
}

Result<Value> read_json(const std::filesystem::path& path) {
  const auto text = read_text(path);
  if (!text) return text.why();
  return parse_json(text.value(), path.string());
}

std::string to_json(const Value& value, int indent) {
  std::string out;
  print(value, indent, 0, out);
  return out;
}

}  // namespace roentgen::io
