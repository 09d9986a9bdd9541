// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/tar.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/record_folder.h"

namespace roentgen::fuzz {

// Parses the positions of records, then reads them as a data source.
void fuzz_tar(Input input) {
  const auto places = io::scan_tar(input, "input");
  if (places.ok()) {
    for (const auto& place : places.value()) {
      require(place.begin + place.length <= input.size(), "members within the file");
    }
  }
  list_records("tar", "a.tar", input);
}

}  // namespace roentgen::fuzz
