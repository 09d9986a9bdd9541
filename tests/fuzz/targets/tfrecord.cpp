// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/record.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/record_folder.h"

namespace roentgen::fuzz {

// Parses the record framing, then reads the records as a data source: once unchanged, once with the bytes as the data
// of a valid record.
void fuzz_tfrecord(Input input) {
  const auto places = io::scan_records(input, "input", io::RecordCheck::Lengths);
  if (places.ok()) {
    for (const io::RecordPlace& place : places.value()) {
      require(place.begin + place.length + io::kFrameTail_bytes <= input.size(), "records within the file");
    }
  }
  static_cast<void>(io::scan_records(input, "input", io::RecordCheck::Data));
  const std::string framed = io::record_frame(text_of(input));
  for (const Input bytes : {input, std::as_bytes(std::span(framed))}) list_records("tfrecord", "a.tfrecord", bytes);
}

}  // namespace roentgen::fuzz
