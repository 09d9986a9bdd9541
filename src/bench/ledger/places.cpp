// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/places.h"

#include <algorithm>

namespace roentgen::bench {

Option records_option(std::vector<std::string>& places, const char* doc) {
  return {.name = "RECORDS", .target = &places, .doc = doc, .is_input = true};
}

std::vector<StoredRecord> read_places(const std::vector<std::string>& places) {
  if (places.empty()) return read_records(default_ledger());
  std::vector<StoredRecord> records;
  for (const std::string& place : places) {
    const std::vector<StoredRecord> more = read_records(place);
    records.insert(records.end(), more.begin(), more.end());
  }
  std::ranges::stable_sort(records, {}, [](const StoredRecord& record) { return record.value.at("date").as_string(); });
  return records;
}

}  // namespace roentgen::bench
