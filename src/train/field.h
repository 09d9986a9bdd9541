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

/// Describes a range in words: "at least 0 and below 1", "1e-12 to 1000".
[[nodiscard]] std::string range_text(Range range);

/// Values that a text key accepts; empty if it accepts any text.
using Words = std::vector<std::string_view>;

/// Key of a recipe and the variable that holds its value.
struct Field {
  using Target = std::variant<std::string*, std::int64_t*, double*, bool*, std::vector<double>*>;
  std::string_view name;
  Target value;
  /// Values that a text key accepts; word that a number may be instead, which sets it to 0.
  Words words;
  /// Range of a number, or of each number in a list.
  Range range;
  /// One line of help: "sgd, lars: trust coefficient". If several users share the key, it starts with their names.
  std::string doc;
  /// Further variables that the key sets, of the same type.
  std::vector<Target> shared{};
};

/// Section of a recipe.
struct Section {
  std::string_view name;
  std::string_view doc;
  std::vector<Field> fields{};
  /// The section as a table, if another component declares and reads its keys. Null if `fields` lists the keys.
  Value* foreign = nullptr;
  /// Keys that `foreign` may hold; empty if the other component refuses unknown keys itself.
  Words keys{};
};

/// All keys of a recipe, section by section. The recipe must outlive the list.
class FieldList {
 public:
  /// Begins a section. Later calls of add() put their keys into it.
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
  /// Adds a number that may also be `word`, which sets it to 0. The range must not contain 0.
  void number_or(std::string_view word, std::string_view name, double& value, Range range, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, {word}, range, std::string(doc)});
  }
  void flag(std::string_view name, bool& value, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, {}, {}, std::string(doc)});
  }
  /// Makes an existing key of the current section set this variable too, and adds `owner` to its help.
  /// @return true if the section has the key
  [[nodiscard]] bool share(std::string_view name, Field::Target value, std::string_view owner);
  void numbers(std::string_view name, std::vector<double>& value, Range range, std::string_view doc) {
    sections_.back().fields.push_back({name, &value, {}, range, std::string(doc)});
  }
  /// Adds a section whose keys another component declares (Section::foreign, Section::keys).
  void foreign(std::string_view section, Value& table, Words keys, std::string_view doc) {
    sections_.push_back({.name = section, .doc = doc, .foreign = &table, .keys = std::move(keys)});
  }

  /// Reads all keys from `source`, a table of tables; missing keys keep their value. Throws ConfigError naming the file
  /// and the key if its value is invalid. An unknown section or key is refused with the nearest known name.
  void read(const Value& source, std::string_view what) const;
  /// Returns all keys with their values, as one table of tables.
  [[nodiscard]] Value value() const;
  /// Returns all keys with value, choices and help, for `roentgen train --keys`.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Section> sections_;
};

}  // namespace roentgen::train
