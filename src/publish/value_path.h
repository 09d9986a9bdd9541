// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A look far down a table whose keys may hold dots: labels do.
#pragma once

#include <initializer_list>
#include <string_view>

#include "core/value.h"

namespace roentgen::publish {

/// The value behind the keys, one table a key; nullptr where there is none.
[[nodiscard]] inline const Value* find(const Value& table, std::initializer_list<std::string_view> keys) {
  const Value* at = &table;
  for (const std::string_view key : keys) {
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace roentgen::publish
