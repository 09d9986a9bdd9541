// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "io/json.h"

namespace roentgen::train {
namespace {

std::string choices(const Words& words) { return fmt::format("one of {}", fmt::join(words, ", ")); }

// As JSON, but for numbers that JSON has not.
std::string text_of(const Value& value) {
  if (value.is_double() && !std::isfinite(value.as_double())) return fmt::to_string(value.as_double());
  if (!value.is_array()) return io::to_json(value, -1);
  std::vector<std::string> entries;
  for (const Value& entry : value.as_array()) entries.push_back(text_of(entry));
  return fmt::format("[{}]", fmt::join(entries, ","));
}

// Short form of a value for an error: one line, not long.
std::string shown(const Value& value) {
  std::string text = text_of(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string range_text(Range range) {
  const bool has_low = std::isfinite(range.low);
  const bool has_high = std::isfinite(range.high);
  if (range.is_above_low || range.is_below_high) {
    const std::string low = fmt::format("{} {}", range.is_above_low ? "above" : "at least", range.low);
    if (!has_high) return low;
    return fmt::format("{} and {} {}", low, range.is_below_high ? "below" : "at most", range.high);
  }
  if (has_low && has_high) return fmt::format("{} to {}", range.low, range.high);
  if (has_low) return fmt::format("at least {}", range.low);
  if (has_high) return fmt::format("at most {}", range.high);
  return "a number";
}

constexpr std::string_view kSeeKeys = "roentgen train --keys for all keys and what they take";

std::string remedy_for(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string near = nearest_name(name, candidates);
  return near.empty() ? std::string(kSeeKeys) : near;
}

}  // namespace

std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = text.size() / 3 + 2;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t above = row[j + 1];
        row[j + 1] = std::min({row[j] + 1, above + 1, diagonal + (text[i] == candidate[j] ? 0U : 1U)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

// ---- reader

void FieldReader::section(std::string_view name, std::string_view) {
  section_ = name;
  sections_.push_back(section_);
  const Value* table = source_.find(name);
  if (table != nullptr && !table->is_table()) {
    throw ConfigError(
        error_text("train.recipe", what_ + ": " + section_, "a section [" + section_ + "]", shown(*table), kSeeKeys));
  }
}

const Value* FieldReader::find(std::string_view name) {
  known_.push_back(section_ + "." + std::string(name));
  const Value* table = source_.find(section_);
  return table == nullptr ? nullptr : table->find(name);
}

void FieldReader::refuse(std::string_view name, std::string_view expected, const Value& got) const {
  throw ConfigError(
      error_text("train.recipe", fmt::format("{}: {}.{}", what_, section_, name), expected, shown(got), kSeeKeys));
}

void FieldReader::check_word(std::string_view name, const Value& got, const Words& words) const {
  if (!got.is_string()) refuse(name, words.empty() ? "a text" : choices(words), got);
  if (words.empty() || std::find(words.begin(), words.end(), got.as_string()) != words.end()) return;
  const std::string near = nearest_name(got.as_string(), {words.begin(), words.end()});
  if (near.empty()) refuse(name, choices(words), got);
  throw ConfigError(error_text("train.recipe", fmt::format("{}: {}.{}", what_, section_, name), choices(words),
                               shown(got), fmt::format("--set {}.{}={}", section_, name, near)));
}

void FieldReader::check_range(std::string_view name, const Value& got, Range range) const {
  if (!got.is_number() || !std::isfinite(got.as_double())) refuse(name, "a number, " + range_text(range), got);
  if (!range.contains(got.as_double())) refuse(name, range_text(range), got);
}

void FieldReader::text(std::string_view name, std::string& value, const Words& words, std::string_view) {
  const Value* found = find(name);
  if (found == nullptr) return;
  check_word(name, *found, words);
  value = found->as_string();
}

void FieldReader::integer(std::string_view name, std::int64_t& value, Range range, std::string_view) {
  const Value* found = find(name);
  if (found == nullptr) return;
  if (!found->is_integer()) refuse(name, "a whole number, " + range_text(range), *found);
  check_range(name, *found, range);
  value = found->as_integer();
}

void FieldReader::number(std::string_view name, double& value, Range range, std::string_view) {
  const Value* found = find(name);
  if (found == nullptr) return;
  check_range(name, *found, range);
  value = found->as_double();
}

void FieldReader::flag(std::string_view name, bool& value, std::string_view) {
  const Value* found = find(name);
  if (found == nullptr) return;
  if (!found->is_bool()) refuse(name, "true or false", *found);
  value = found->as_bool();
}

void FieldReader::numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view) {
  const Value* found = find(name);
  if (found == nullptr) return;
  const Value::Array list = found->is_array() ? found->as_array() : Value::Array{*found};
  value.clear();
  for (const Value& entry : list) {
    check_range(name, entry, range);
    value.push_back(entry.as_double());
  }
}

void FieldReader::foreign(std::string_view name, Value& table, const Words& keys, std::string_view doc) {
  section(name, doc);
  if (keys.empty()) foreign_.emplace_back(name);
  for (const std::string_view key : keys) known_.push_back(section_ + "." + std::string(key));
  if (const Value* found = source_.find(name)) table = *found;
}

void FieldReader::refuse_section(const std::string& name, const Value& value) const {
  if (value.is_table()) {
    throw ConfigError(
        error_text("train.recipe", what_, "a known section", "[" + name + "]", remedy_for(name, sections_)));
  }
  const auto inside =
      std::find_if(known_.begin(), known_.end(), [&](const std::string& key) { return key.ends_with("." + name); });
  throw ConfigError(error_text("train.recipe", what_, "keys inside sections", name + " outside of any",
                               inside == known_.end() ? std::string(kSeeKeys) : *inside));
}

void FieldReader::refuse_unknown() const {
  for (const auto& [section, table] : source_.as_table()) {
    if (std::find(sections_.begin(), sections_.end(), section) == sections_.end()) {
      refuse_section(section, table);
    }
    if (std::find(foreign_.begin(), foreign_.end(), section) != foreign_.end()) continue;
    for (const auto& [name, entry] : table.as_table()) {
      const std::string key = section + "." + name;
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      throw ConfigError(error_text("train.recipe", what_, "a known key", key, remedy_for(key, known_)));
    }
  }
}

// ---- printer

void FieldPrinter::section(std::string_view name, std::string_view) {
  section_ = name;
  root_.set(name, Value::table());
}
void FieldPrinter::put(std::string_view name, Value value) {
  root_.set_path(section_ + "." + std::string(name), std::move(value));
}
void FieldPrinter::text(std::string_view name, std::string& value, const Words&, std::string_view) { put(name, value); }
void FieldPrinter::integer(std::string_view name, std::int64_t& value, Range, std::string_view) { put(name, value); }
void FieldPrinter::number(std::string_view name, double& value, Range, std::string_view) { put(name, value); }
void FieldPrinter::flag(std::string_view name, bool& value, std::string_view) { put(name, value); }
void FieldPrinter::numbers(std::string_view name, std::vector<double>& value, Range, std::string_view) {
  Value list = Value::array();
  for (const double entry : value) list.push_back(entry);
  put(name, std::move(list));
}

void FieldPrinter::foreign(std::string_view name, Value& table, const Words&, std::string_view) {
  root_.set(name, table);
}

// ---- lister

void FieldLister::section(std::string_view name, std::string_view doc) {
  list_ += fmt::format("{}[{}]  # {}\n", list_.empty() ? "" : "\n", name, doc);
}
void FieldLister::line(std::string_view name, std::string_view value, std::string_view choice, std::string_view doc) {
  if (doc.empty()) {
    list_ += fmt::format("{} = {}\n", name, value);
    return;
  }
  list_ += fmt::format("{} = {}  # {}{}{}{}\n", name, value, doc, choice.empty() ? "" : " (", choice,
                       choice.empty() ? "" : ")");
}
void FieldLister::text(std::string_view name, std::string& value, const Words& words, std::string_view doc) {
  line(name, "\"" + value + "\"", words.empty() ? "" : choices(words), doc);
}
void FieldLister::integer(std::string_view name, std::int64_t& value, Range range, std::string_view doc) {
  line(name, fmt::to_string(value), range_text(range), doc);
}
void FieldLister::number(std::string_view name, double& value, Range range, std::string_view doc) {
  line(name, fmt::to_string(value), range_text(range), doc);
}
void FieldLister::flag(std::string_view name, bool& value, std::string_view doc) {
  line(name, value ? "true" : "false", "", doc);
}
void FieldLister::numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view doc) {
  line(name, fmt::format("[{}]", fmt::join(value, ", ")), range_text(range), doc);
}
void FieldLister::foreign(std::string_view name, Value& table, const Words& keys, std::string_view doc) {
  section(name, doc);
  for (const auto& [key, value] : table.as_table()) line(key, io::to_json(value, -1), "", "");
  for (const std::string_view key : keys) {
    if (table.find(key) == nullptr) list_ += fmt::format("# {} = ...\n", key);
  }
}

}  // namespace roentgen::train
