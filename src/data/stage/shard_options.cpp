// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/shard_options.h"

#include <array>
#include <string>
#include <utility>

#include "core/error.h"

namespace roentgen::data {
namespace {

constexpr std::array<std::pair<Tail, std::string_view>, 3> kTails{
    {{Tail::Pad, "pad"}, {Tail::Drop, "drop"}, {Tail::Wrap, "wrap"}}};

}  // namespace

std::string_view name_of(Tail tail) { return kTails.at(static_cast<std::size_t>(tail)).second; }

Tail parse_tail(std::string_view text) {
  for (const auto& [tail, name] : kTails) {
    if (name == text) return tail;
  }
  throw ConfigError(error_text("data.shard", "tail", "one of pad, drop, wrap", text, "--set train.tail=drop"));
}

}  // namespace roentgen::data
