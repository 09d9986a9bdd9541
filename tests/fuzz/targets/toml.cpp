// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/toml.h"

#include "core/value.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

// Checks that a parsed text, as a document or after --set, stays the same when it is written and parsed again.
void fuzz_toml(Input input) {
  const auto read = io::parse_toml(text_of(input), "input");
  if (read.ok() && read.value().is_table()) {
    const std::string text = io::to_toml(read.value());
    const auto again = io::parse_toml(text, "again");
    require(again.ok() && io::to_toml(again.value()) == text, "the same document after it was written");
  }
  static_cast<void>(io::parse_toml_value(text_of(input), "--set"));
}

}  // namespace roentgen::fuzz
