// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/set_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/foreign_text.h"
#include "io/text.h"
#include "io/toml.h"

namespace roentgen::data {
namespace {

/// True if --set reads the text unchanged without TOML quotes.
bool is_bare(std::string_view text) {
  const auto value = io::parse_toml_value(text, "value");
  const bool has_control = std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7F'; });
  return !has_control && value.ok() && value.value().is_string() && value.value().as_string() == text;
}

std::string option(std::string_view key, std::string_view value) {
  return "--set " + shell_word(fmt::format("{}={}", key, value));
}

}  // namespace

std::string set_option(std::string_view key, std::string_view text) {
  return option(key, is_bare(text) ? std::string(text) : io::quote_string(text));
}

std::string set_option(std::string_view key, const std::vector<std::string>& names) {
  // A comma would separate names, so a name with a comma needs the array form.
  if (names.size() == 1 && is_bare(names[0]) && names[0].find(',') == std::string::npos) return option(key, names[0]);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + io::quote_string(name);
  return option(key, "[" + list + "]");
}

}  // namespace roentgen::data
