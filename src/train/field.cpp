// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/nearest_name.h"
#include "io/json.h"

namespace roentgen::train {

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

namespace {

std::string choices(const Words& words) { return fmt::format("one of {}", fmt::join(words, ", ")); }

// Returns the JSON text of a value, also for NaN and infinity, which JSON lacks.
std::string text_of(const Value& value) {
  if (value.is_double() && !std::isfinite(value.as_double())) return fmt::to_string(value.as_double());
  if (!value.is_array()) return io::to_json(value, -1);
  std::vector<std::string> entries;
  for (const Value& entry : value.as_array()) entries.push_back(text_of(entry));
  return fmt::format("[{}]", fmt::join(entries, ","));
}

// Shortens the text of a value to one short line for an error.
std::string shown(const Value& value) {
  std::string text = text_of(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

constexpr std::string_view kSeeKeys = "roentgen train --keys for all keys and what they take";

std::string remedy_for(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string near = nearest_name(name, candidates);
  return near.empty() ? std::string(kSeeKeys) : near;
}

// True if a number holds the word that it may be instead.
bool is_word(const Field& field, double value) { return !field.words.empty() && value == 0.0; }

// Converts a field's variable to a Value, for a table.
template <typename Plain>
Value value_of(const Field& /*field*/, const Plain& value) {
  return value;
}
Value value_of(const Field& field, double value) {
  return is_word(field, value) ? Value(std::string(field.words[0])) : Value(value);
}
Value value_of(const Field& /*field*/, const std::vector<double>& values) {
  Value list = Value::array();
  for (const double each : values) list.push_back(each);
  return list;
}

// Formats the value of a field for `roentgen train --keys`.
template <typename Number>
std::string written(const Field& /*field*/, const Number& value) {
  return fmt::to_string(value);
}
std::string written(const Field& /*field*/, const std::string& value) { return "\"" + value + "\""; }
std::string written(const Field& field, double value) {
  return is_word(field, value) ? written(field, std::string(field.words[0])) : fmt::to_string(value);
}
std::string written(const Field& /*field*/, const std::vector<double>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

// Describes the values that a field accepts; empty if it accepts any value.
std::string accepted(const Field& field) {
  if (std::holds_alternative<bool*>(field.value)) return "";
  if (std::holds_alternative<std::string*>(field.value)) return field.words.empty() ? "" : choices(field.words);
  return (field.words.empty() ? "" : std::string(field.words[0]) + " or ") + range_text(field.range);
}

// Reads the value of one key.
struct FieldReader {
  const Field& field;
  /// Full name of the key, as "optimizer.lr"; `what` names the file.
  const std::string& key;
  std::string_view what;

  [[noreturn]] void refuse(std::string_view expected, const Value& got, std::string_view remedy = kSeeKeys) const {
    throw ConfigError(error_text("train.recipe", fmt::format("{}: {}", what, key), expected, shown(got), remedy));
  }

  [[nodiscard]] double number(const Value& got) const {
    if (!got.is_number() || !std::isfinite(got.as_double())) refuse("a number, " + range_text(field.range), got);
    if (!field.range.contains(got.as_double())) refuse(range_text(field.range), got);
    return got.as_double();
  }

  void read(const Value& got, std::string& value) const {
    const Words& words = field.words;
    if (!got.is_string()) refuse(words.empty() ? "a text" : choices(words), got);
    value = got.as_string();
    if (words.empty() || std::ranges::find(words, value) != words.end()) return;
    const std::string near = nearest_name(value, {words.begin(), words.end()});
    refuse(choices(words), got, near.empty() ? std::string(kSeeKeys) : fmt::format("--set {}={}", key, near));
  }
  void read(const Value& got, std::int64_t& value) const {
    if (!got.is_integer()) refuse("a whole number, " + range_text(field.range), got);
    static_cast<void>(number(got));
    value = got.as_integer();
  }
  void read(const Value& got, double& value) const {
    const bool is_word = got.is_string() && !field.words.empty();
    if (is_word && got.as_string() != field.words[0]) refuse(accepted(field), got);
    value = is_word ? 0.0 : number(got);
  }
  void read(const Value& got, bool& value) const {
    if (!got.is_bool()) refuse("true or false", got);
    value = got.as_bool();
  }
  void read(const Value& got, std::vector<double>& values) const {
    values.clear();
    for (const Value& each : got.is_array() ? got.as_array() : Value::Array{got}) values.push_back(number(each));
  }
};

// Names that a recipe may contain.
struct KnownNames {
  /// Full names of keys, as "optimizer.lr".
  std::vector<std::string> keys;
  std::vector<std::string> sections;
  /// Sections whose unknown keys are refused by another component.
  std::vector<std::string> open;
};

KnownNames known_names(const std::vector<Section>& sections) {
  KnownNames known;
  for (const Section& section : sections) {
    known.sections.emplace_back(section.name);
    if (section.foreign != nullptr && section.keys.empty()) known.open.emplace_back(section.name);
    for (const Field& field : section.fields) known.keys.push_back(fmt::format("{}.{}", section.name, field.name));
    for (const std::string_view key : section.keys) known.keys.push_back(fmt::format("{}.{}", section.name, key));
  }
  return known;
}

[[noreturn]] void refuse_section(const KnownNames& known, std::string_view what, const std::string& name,
                                 const Value& value) {
  if (value.is_table()) {
    throw ConfigError(
        error_text("train.recipe", what, "a known section", "[" + name + "]", remedy_for(name, known.sections)));
  }
  const auto inside =
      std::ranges::find_if(known.keys, [&](const std::string& key) { return key.ends_with("." + name); });
  throw ConfigError(error_text("train.recipe", what, "keys inside sections", name + " outside of all sections",
                               inside == known.keys.end() ? std::string(kSeeKeys) : *inside));
}

// Refuses unknown sections and keys, and suggests the nearest known name.
void refuse_unknown(const KnownNames& known, const Value& source, std::string_view what) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const auto& [section, table] : source.as_table()) {
    if (!has(known.sections, section)) refuse_section(known, what, section, table);
    if (has(known.open, section)) continue;
    for (const auto& [name, entry] : table.as_table()) {
      const std::string key = section + "." + name;
      if (has(known.keys, key)) continue;
      throw ConfigError(error_text("train.recipe", what, "a known key", key, remedy_for(key, known.keys)));
    }
  }
}

}  // namespace

void FieldList::read(const Value& source, std::string_view what) const {
  for (const Section& section : sections_) {
    const Value* table = source.find(section.name);
    if (table == nullptr) continue;
    if (!table->is_table()) {
      throw ConfigError(error_text("train.recipe", fmt::format("{}: {}", what, section.name),
                                   fmt::format("a section [{}]", section.name), shown(*table), kSeeKeys));
    }
    for (const Field& field : section.fields) {
      const Value* got = table->find(field.name);
      const std::string key = fmt::format("{}.{}", section.name, field.name);
      const FieldReader reader{.field = field, .key = key, .what = what};
      if (got == nullptr) continue;
      const auto set = [&](auto* value) { reader.read(*got, *value); };
      std::visit(set, field.value);
      for (const Field::Target& other : field.shared) std::visit(set, other);
    }
    if (section.foreign != nullptr) *section.foreign = *table;
  }
  refuse_unknown(known_names(sections_), source, what);
}

bool FieldList::share(std::string_view name, Field::Target value, std::string_view owner) {
  std::vector<Field>& fields = sections_.back().fields;
  const auto field = std::ranges::find(fields, name, &Field::name);
  if (field == fields.end()) return false;
  RG_ASSERT(field->value.index() == value.index());
  field->shared.push_back(value);
  field->doc.insert(std::min(field->doc.find(':'), field->doc.size()), fmt::format(", {}", owner));
  return true;
}

Value FieldList::value() const {
  Value root = Value::table();
  for (const Section& section : sections_) {
    Value& table = root.set(section.name, section.foreign != nullptr ? *section.foreign : Value::table());
    for (const Field& field : section.fields) {
      std::visit([&](const auto* value) { table.set(field.name, value_of(field, *value)); }, field.value);
    }
  }
  return root;
}

std::string FieldList::text() const {
  std::string text;
  for (const Section& section : sections_) {
    text += fmt::format("{}[{}]  # {}\n", text.empty() ? "" : "\n", section.name, section.doc);
    for (const Field& field : section.fields) {
      const std::string value = std::visit([&](const auto* each) { return written(field, *each); }, field.value);
      const std::string range = accepted(field);
      text += fmt::format("{} = {}  # {}{}\n", field.name, value, field.doc, range.empty() ? "" : " (" + range + ")");
    }
    if (section.foreign == nullptr) continue;
    for (const auto& [key, value] : section.foreign->as_table())
      text += fmt::format("{} = {}\n", key, io::to_json(value, -1));
    for (const std::string_view key : section.keys) {
      if (section.foreign->find(key) == nullptr) text += fmt::format("# {} = ...\n", key);
    }
  }
  return text;
}

}  // namespace roentgen::train
