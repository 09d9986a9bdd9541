// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/example.h"

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_example(Input input) {
  const auto example = io::parse_example(input, "input");
  if (!example.ok()) return;
  for (const auto& [name, feature] : example.value()) {
    const auto* bytes = std::get_if<io::BytesList>(&feature);
    if (bytes == nullptr) continue;
    for (const auto& value : *bytes) {
      require(
          value.empty() || (value.data() >= input.data() && value.data() + value.size() <= input.data() + input.size()),
          "values within the message");
    }
  }
}

}  // namespace roentgen::fuzz
