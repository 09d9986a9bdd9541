// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/gzip.h"

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_gzip(Input input) {
  constexpr std::size_t kLimit_bytes = 1U << 20U;
  const auto text = io::gunzip(text_of(input), kLimit_bytes, "input");
  if (text.ok()) require(text.value().size() <= kLimit_bytes, "no more than the limit");
  require(io::gunzip_head(text_of(input), 100).size() <= 100, "no more than was asked for");
}

}  // namespace roentgen::fuzz
