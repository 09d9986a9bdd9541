// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_index.h"

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

// Parses the bytes as a file of the cache folder: unchanged, so that its hash is wrong, and with a valid hash.
void fuzz_record_index(Input input) {
  static_cast<void>(data::decode_record_index(text_of(input)));
  const auto read = data::decode_record_index(data::seal_record_index(text_of(input)));
  if (!read) return;
  const std::string again = data::encode_record_index(*read);
  const auto second = data::decode_record_index(again);
  require(second && data::encode_record_index(*second) == again, "an index read back is the same index");
}

}  // namespace roentgen::fuzz
