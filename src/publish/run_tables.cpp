// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/run_tables.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/toml.h"

namespace roentgen::publish {

const Value* find(const Value& table, std::initializer_list<std::string_view> keys) {
  const Value* at = &table;
  for (const std::string_view key : keys) {
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string text_of(const Value* value) {
  if (value == nullptr) return "";
  if (value->is_string()) return value->as_string();
  return value->is_number() ? fmt::format("{}", value->as_double()) : "";
}

std::optional<double> number_of(const Value* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->as_double();
}

std::string evaluated_list(const Value& evaluation) {
  const std::string split = text_of(find(evaluation, {"split", "list_sha256"}));
  return split.empty() ? text_of(find(evaluation, {"predictions", "list_sha256"})) : split;
}

void check_tables(std::string_view thing, const Value& data, const Value& evaluation) {
  const auto is_table = [](const Value* value) { return value != nullptr && value->is_table(); };
  if (!data.is_null() && !is_table(find(data, {"splits"}))) {
    throw ConfigError(
        error_text(thing, "data", "a table with the key splits", "a table without it", "data.json of the run"));
  }
  if (!evaluation.is_null() && !is_table(find(evaluation, {"auroc", "labels"}))) {
    throw ConfigError(error_text(thing, "evaluation", "a table with the key auroc.labels", "a table without it",
                                 "the JSON file of roentgen eval --json"));
  }
}

Value without_folders(Value recipe) {
  for (const char* key : {"model.file", "train.init"}) {
    const Value* value = recipe.find_path(key);
    if (value == nullptr || !value->is_string()) continue;
    recipe.set_path(key, std::filesystem::path(value->as_string()).filename().string());
  }
  return recipe;
}

std::string recipe_text(Value recipe) { return io::to_toml(without_folders(std::move(recipe))); }

}  // namespace roentgen::publish
