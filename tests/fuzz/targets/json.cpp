// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/json.h"

#include "core/value.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_json(Input input) {
  const auto read = io::parse_json(text_of(input), "input");
  if (!read.ok()) return;
  const std::string text = io::to_json(read.value());
  const auto again = io::parse_json(text, "again");
  require(again.ok() && io::to_json(again.value()) == text, "the same document after it was written");
}

}  // namespace roentgen::fuzz
