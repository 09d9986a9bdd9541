// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/comma_list.h"
#include "core/error.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

constexpr std::array<std::string_view, 2> kBlanks{"unknown", "negative"};
constexpr std::array<std::string_view, 3> kUncertains{"ignore", "one", "zero"};
constexpr std::array<std::string_view, 4> kModes{"auto", "given", "random", "whole"};
constexpr std::array<std::string_view, 3> kValidations{"auto", "part", "none"};
constexpr std::array<std::string_view, 2> kUnits{"patient", "image"};
constexpr std::array<std::string_view, 2> kAbsents{"refuse", "skip"};
constexpr std::array<std::string_view, 2> kDuplicates{"refuse", "first"};

constexpr std::string_view kRemedy = "roentgen train --keys for all keys and what they take";

/// Reads entries of one table into variables, which keep their default values if there is no entry.
class Reader {
 public:
  Reader(const Value& table, std::string_view section) : table_(table), section_(section) {
    if (!table.is_null() && !table.is_table()) {
      throw ConfigError(error_text("data.source", section_, "a table", table.kind(), kRemedy));
    }
  }

  void string(std::string_view key, std::string& out) const {
    if (const Value* value = find(key)) out = text(key, *value);
  }
  void path(std::string_view key, std::filesystem::path& out) const {
    if (const Value* value = find(key)) out = text(key, *value);
  }
  /// Reads names: an array, or a string with commas between them.
  void names(std::string_view key, std::vector<std::string>& out) const {
    const Value* value = find(key);
    if (value == nullptr || !value->is_string() || value->as_string().find(',') == std::string::npos) {
      list(key, out);
      return;
    }
    out.clear();
    for (const std::string_view part : comma_parts(value->as_string())) {
      if (!stripped(part).empty()) out.emplace_back(stripped(part));
    }
  }
  /// Reads a string or an array of strings.
  template <typename T>
  void list(std::string_view key, std::vector<T>& out) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    out.clear();
    if (!value->is_array()) {
      out.emplace_back(text(key, *value));
      return;
    }
    for (const Value& item : value->as_array()) out.emplace_back(text(key, item));
  }
  /// Reads one of `names`, which are in the order of the enumerators.
  template <typename T, std::size_t N>
  void choice(std::string_view key, const std::array<std::string_view, N>& names, T& out) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    const std::string chosen = text(key, *value);
    const auto found = std::find(names.begin(), names.end(), chosen);
    if (found == names.end()) {
      throw ConfigError(error_text("data.source", name(key), "one of " + first_names({names.begin(), names.end()}, N),
                                   chosen, kRemedy));
    }
    out = static_cast<T>(found - names.begin());
  }
  void share(std::string_view key, double& out) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number()) refuse(key, "a number", *value);
    out = value->as_double();
    if (out >= 0.0 && out < 1.0) return;
    throw ConfigError(
        error_text("data.source", name(key), "a fraction of at least 0 and below 1", fmt::to_string(out), kRemedy));
  }
  void seed(std::string_view key, std::uint64_t& out) const {
    const Value* value = find(key);
    if (value == nullptr) return;
    if (!value->is_integer() || value->as_integer() < 0) {
      refuse(key, "a whole number of at least 0", *value);
    }
    out = static_cast<std::uint64_t>(value->as_integer());
  }
  template <std::size_t N>
  void refuse_unknown(const std::array<std::string_view, N>& keys) const {
    if (!table_.is_table()) return;
    for (const auto& [key, value] : table_.as_table()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        throw ConfigError(error_text("data.source", name(key), "one of " + first_names({keys.begin(), keys.end()}, N),
                                     "an unknown key", kRemedy));
      }
    }
  }
  [[nodiscard]] const Value* find(std::string_view key) const {
    const Value* value = table_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

 private:
  [[nodiscard]] std::string name(std::string_view key) const { return section_ + "." + std::string(key); }
  [[noreturn]] void refuse(std::string_view key, std::string_view expected, const Value& got) const {
    throw ConfigError(
        error_text("data.source", name(key), expected, "a value that is " + std::string(got.kind()), kRemedy));
  }
  [[nodiscard]] std::string text(std::string_view key, const Value& value) const {
    if (!value.is_string()) refuse(key, "a text", value);
    return value.as_string();
  }

  const Value& table_;
  std::string section_;
};

void read_policy(const Reader& reader, LabelPolicy& policy) {
  reader.choice("blank", kBlanks, policy.blank);
  reader.choice("uncertain", kUncertains, policy.uncertain);
}

Value policy_value(const LabelPolicy& policy) {
  Value table = Value::table();
  table.set("blank", kBlanks.at(static_cast<std::size_t>(policy.blank)));
  table.set("uncertain", kUncertains.at(static_cast<std::size_t>(policy.uncertain)));
  return table;
}

template <typename T>
void set_list(Value& table, std::string_view key, const std::vector<T>& items) {
  if (items.empty()) return;
  Value array = Value::array();
  for (const auto& item : items) array.push_back(std::filesystem::path(item).string());
  table.set(key, std::move(array));
}

void set_text(Value& table, std::string_view key, const std::string& text) {
  if (!text.empty()) table.set(key, text);
}

void read_label_policies(const Reader& reader, std::string_view section, SourceOptions& options) {
  const Value* policies = reader.find("label_policy");
  if (policies == nullptr) return;
  const std::string name = fmt::format("{}.label_policy", section);
  static_cast<void>(Reader(*policies, name));  // only checks that it is a table
  for (const auto& [label, entry] : policies->as_table()) {
    const Reader one(entry, name + "." + label);
    one.refuse_unknown(std::array<std::string_view, 2>{"blank", "uncertain"});
    LabelPolicy policy = options.policy;
    read_policy(one, policy);
    options.label_policies.emplace_back(label, policy);
  }
}

void read_label_map(const Reader& reader, std::string_view section, SourceOptions& options) {
  const Value* map = reader.find("label_map");
  if (map == nullptr) return;
  const Reader names(*map, fmt::format("{}.label_map", section));
  for (const auto& entry : map->as_table()) {
    std::string own;
    names.string(entry.first, own);
    options.label_map.emplace_back(entry.first, own);
  }
}

/// Reads all keys of a table except `sources`.
SourceOptions read_one(const Value& table, const std::string& section) {
  SourceOptions options;
  const Reader reader(table, section);
  reader.string("name", options.name);
  reader.path("folder", options.root);
  reader.string("source", options.source);
  reader.list("csv", options.csv);
  reader.string("image", options.image);
  reader.string("patient", options.patient);
  reader.list("images", options.images);
  reader.names("labels", options.labels);
  read_policy(reader, options.policy);
  reader.names("views", options.views);
  reader.choice("absent", kAbsents, options.absent);
  reader.choice("duplicates", kDuplicates, options.duplicates);
  reader.choice("split", kModes, options.split.mode);
  reader.choice("validation", kValidations, options.split.validation);
  reader.choice("split_unit", kUnits, options.split.unit);
  reader.seed("split_seed", options.split.seed);
  reader.share("test_fraction", options.split.test_fraction);
  reader.share("val_fraction", options.split.val_fraction);
  reader.path("train_val_list", options.split.train_val_list);
  reader.path("train_list", options.split.train_list);
  reader.path("val_list", options.split.val_list);
  reader.path("test_list", options.split.test_list);
  reader.string("patient_namespace", options.patient_namespace);
  read_label_policies(reader, section, options);
  read_label_map(reader, section, options);
  return options;
}

/// Keys allowed in an entry of `sources`.
constexpr std::array<std::string_view, kSourceKeys.size() + 1> source_entry_keys() {
  std::array<std::string_view, kSourceKeys.size() + 1> keys{"name", "folder"};
  std::size_t count = 2;
  for (const std::string_view key : kSourceKeys) {
    if (key != "sources") keys.at(count++) = key;
  }
  return keys;
}

void read_sources(const Value& sources, const Value& all, SourceOptions& options) {
  if (!sources.is_array()) {
    throw ConfigError(error_text("data.source", "data.sources", "one table [[data.sources]] for each data set",
                                 sources.kind(), kRemedy));
  }
  for (const Value& entry : sources.as_array()) {
    const std::string section = fmt::format("data.sources[{}]", options.sources.size());
    Reader(entry, section).refuse_unknown(source_entry_keys());
    Value table = Value::table();
    for (const auto& [key, value] : all.as_table()) {
      if (key != "sources" && key != "labels") table.set(key, value);
    }
    for (const auto& [key, value] : entry.as_table()) table.set(key, value);
    options.sources.push_back(read_one(table, section));
  }
}

Value one_to_value(const SourceOptions& options) {
  const SplitOptions& split = options.split;
  Value table = policy_value(options.policy);
  table.set("source", options.source);
  set_list(table, "csv", options.csv);
  set_text(table, "image", options.image);
  set_text(table, "patient", options.patient);
  set_list(table, "images", options.images);
  set_list(table, "labels", options.labels);
  set_list(table, "views", options.views);
  table.set("absent", kAbsents.at(static_cast<std::size_t>(options.absent)));
  table.set("duplicates", kDuplicates.at(static_cast<std::size_t>(options.duplicates)));
  table.set("split", kModes.at(static_cast<std::size_t>(split.mode)));
  table.set("validation", kValidations.at(static_cast<std::size_t>(split.validation)));
  table.set("split_unit", kUnits.at(static_cast<std::size_t>(split.unit)));
  table.set("split_seed", static_cast<std::int64_t>(split.seed));
  table.set("test_fraction", split.test_fraction);
  table.set("val_fraction", split.val_fraction);
  set_text(table, "train_val_list", split.train_val_list.string());
  set_text(table, "train_list", split.train_list.string());
  set_text(table, "val_list", split.val_list.string());
  set_text(table, "test_list", split.test_list.string());
  set_text(table, "patient_namespace", options.patient_namespace);
  if (!options.label_policies.empty()) {
    Value& policies = table.set("label_policy", Value::table());
    for (const auto& [label, policy] : options.label_policies) policies.set(label, policy_value(policy));
  }
  if (!options.label_map.empty()) {
    Value& names = table.set("label_map", Value::table());
    for (const auto& [label, own] : options.label_map) names.set(label, own);
  }
  return table;
}

/// Empty value of the same type.
Value nothing_for(const Value& value) {
  return value.is_array() ? Value::array() : value.is_table() ? Value::table() : Value("");
}

/// Keys of an entry whose values differ from the values shared by all entries.
Value entry_to_value(const SourceOptions& entry, const Value& all) {
  const Value whole = one_to_value(entry);
  Value table = Value::table();
  set_text(table, "name", entry.name);
  for (const auto& [key, value] : whole.as_table()) {
    const Value* usual = all.find(key);
    if (key == "labels" || usual == nullptr || *usual != value) table.set(key, value);
  }
  for (const auto& [key, value] : all.as_table()) {
    if (key != "labels" && whole.find(key) == nullptr) table.set(key, nothing_for(value));
  }
  return table;
}

}  // namespace

SourceOptions source_options_from_value(const Value& table, const std::filesystem::path& root) {
  const Reader reader(table, "data");
  reader.refuse_unknown(kSourceKeys);
  SourceOptions options = read_one(table, "data");
  options.root = root;
  if (const Value* sources = reader.find("sources")) read_sources(*sources, table, options);
  return options;
}

Value to_value(const SourceOptions& options) {
  const Value all = one_to_value(options);
  Value table = all;
  if (options.sources.empty()) return table;
  Value& sources = table.set("sources", Value::array());
  for (const SourceOptions& entry : options.sources) sources.push_back(entry_to_value(entry, all));
  return table;
}

}  // namespace roentgen::data
