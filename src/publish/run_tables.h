// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the tables of a run and of its evaluation, for published pages.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/value.h"

namespace roentgen::publish {

/// Finds a value in nested tables, by one key for each level; keys may contain dots, as labels do. Returns nullptr if
/// there is none.
[[nodiscard]] const Value* find(const Value& table, std::initializer_list<std::string_view> keys);
/// Formats a value as text: a string unchanged, a number formatted; "" for null and other types.
[[nodiscard]] std::string text_of(const Value* value);
/// Returns the number in a value; nullopt for null and other types.
[[nodiscard]] std::optional<double> number_of(const Value* value);

/// Returns the io::name_list_sha256 of the evaluated images, from the JSON of `roentgen eval`; "" if the JSON does not
/// contain it.
[[nodiscard]] std::string evaluated_list(const Value& evaluation);

/// Throws ConfigError if data.json or the JSON of `roentgen eval` is malformed; `data` and `evaluation` may be null.
void check_tables(std::string_view thing, const Value& data, const Value& evaluation);

/// Returns the recipe without folder names, which are meaningful only on the machine of the run.
[[nodiscard]] Value without_folders(Value recipe);
/// Returns the result of without_folders() as TOML text.
[[nodiscard]] std::string recipe_text(Value recipe);

}  // namespace roentgen::publish
