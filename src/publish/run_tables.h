// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tables of a run and of its evaluation, in the form that published pages read.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/value.h"

namespace roentgen::publish {

/// The value behind the keys, one table a key, since keys may hold dots: labels do. nullptr where there is none.
[[nodiscard]] const Value* find(const Value& table, std::initializer_list<std::string_view> keys);
/// A text unchanged, a number as text; "" for null and for other kinds.
[[nodiscard]] std::string text_of(const Value* value);
/// Number in a value; nullopt for null and for other kinds.
[[nodiscard]] std::optional<double> number_of(const Value* value);

/// io::name_list_sha256 of the images in the JSON of roentgen eval; "" when it is not stated.
[[nodiscard]] std::string evaluated_list(const Value& evaluation);

/// Throws ConfigError where data.json or the JSON of roentgen eval is malformed; either may be null.
void check_tables(std::string_view thing, const Value& data, const Value& evaluation);

/// The recipe without the folders of its files, which belong to the machine it ran on.
[[nodiscard]] Value without_folders(Value recipe);
/// without_folders() as TOML.
[[nodiscard]] std::string recipe_text(Value recipe);

}  // namespace roentgen::publish
