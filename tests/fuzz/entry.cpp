// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/entry.h"

#include <cstdlib>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const char* name = std::getenv("ROENTGEN_FUZZ");
  roentgen::fuzz::run_target(name == nullptr ? "" : name, std::as_bytes(std::span(data, size)));
  return 0;
}
