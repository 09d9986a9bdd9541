// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// FieldList: the keys of a recipe, declared once and then read, printed and documented.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/range.h"
#include "core/value.h"

namespace roentgen::train {

/// Words for a range: "at least 0 and below 1", "1e-12 to 1000".
[[nodiscard]] std::string range_text(Range range);

/// Words a key accepts; empty: any text.
using Words = std::vector<std::string_view>;

/// Key of a recipe and the variable that holds its value.
struct Field {
  using Target = std::variant<std::string*, std::int64_t*, double*, bool*, std::vector<double>*>;
  std::string_view name;
  Target value;
  /// Words that a text accepts.
  Words words;
  /// Range of a number, or of each number of a list.
  Range range;
  /// One line for people: "sgd, lars: trust coefficient", owners of the key first where several share it.
  std::string doc;
  /// Further values that the key sets, of the same type.
  std::vector<Target> shared{};
};

/// Section of a recipe.
struct Section {
  std::string_view name;
  std::string_view doc;
  std::vector<Field> fields{};
  /// The whole section as a table, for sections whose keys another room declares and reads; null: `fields` lists the
  /// keys.
  Value* foreign = nullptr;
  /// Keys that `foreign` may hold; empty: that room refuses unknown keys itself.
  Words keys{};
};

/// All keys of a recipe, section by section. The recipe must outlive it.
class FieldList {
 public:
  /// Begins a section; add() puts later keys into it.
  void section(std::string_view name, std::string_view doc) { sections_.push_back({.name = name, .doc = doc}); }
  void text(std::string_view name, std::string& value, Words words, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, std::move(words), {}, std::string(doc)});
  }
  void integer(std::string_view name, std::int64_t& value, Range range, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, {}, range, std::string(doc)});
  }
  void number(std::string_view name, double& value, Range range, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, {}, range, std::string(doc)});
  }
  void flag(std::string_view name, bool& value, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, {}, {}, std::string(doc)});
  }
  /// Makes an existing key of the current section set this value too, and names the further owner in its doc.
  /// @return whether the section has the key
  [[nodiscard]] bool share(std::string_view name, Field::Target value, std::string_view owner);
  void numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, {}, range, std::string(doc)});
  }
  /// Adds a section whose keys another room declares, as Section::foreign and Section::keys say.
  void foreign(std::string_view section, Value& table, Words keys, std::string_view doc) {
    sections_.push_back({.name = section, .doc = doc, .foreign = &table, .keys = std::move(keys)});
  }

  /// Reads all keys from `source`, a table of tables; missing keys keep their value. Throws ConfigError naming the key
  /// and the file, also for an unknown section or key, with the nearest known name.
  void read(const Value& source, std::string_view what) const;
  /// All keys with their values, as one table of tables.
  [[nodiscard]] Value value() const;
  /// All keys with value, choices and doc: `roentgen train --keys`.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Section> sections_;
};

}  // namespace roentgen::train
