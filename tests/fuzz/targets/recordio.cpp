// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/recordio.h"

#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/record_folder.h"

namespace roentgen::fuzz {

// Parses the positions of records, then reads them as a data source.
void fuzz_recordio(Input input) {
  const auto places = io::scan_recordio(input, "input");
  if (places.ok()) {
    for (const auto& place : places.value()) {
      require(place.begin + place.length <= input.size(), "records within the file");
    }
  }
  std::vector<std::byte> joined;
  if (io::join_recordio(input, joined)) require(joined.size() <= input.size(), "a record no longer than its parts");
  list_records("recordio", "a.rec", input);
}

}  // namespace roentgen::fuzz
