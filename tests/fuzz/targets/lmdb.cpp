// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/lmdb.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/record_folder.h"

namespace roentgen::fuzz {

// Parses the positions of records, then reads them as a data source.
void fuzz_lmdb(Input input) {
  const auto places = io::scan_lmdb(input, "input");
  if (places.ok()) {
    for (const auto& place : places.value()) {
      require(place.begin + place.length <= input.size(), "values within the file");
    }
  }
  list_records("lmdb", "data.mdb", input);
}

}  // namespace roentgen::fuzz
