// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Positional argument RECORDS of the cases that read stored results.
#pragma once

#include <string>
#include <vector>

#include "bench/ledger/record.h"
#include "core/option.h"

namespace roentgen::bench {

/// Returns the positional argument RECORDS, which may occur several times.
[[nodiscard]] Option records_option(std::vector<std::string>& places, const char* doc);

/// Reads the records in all files and folders, or in default_ledger() if there are none, sorted by date. Throws as
/// read_records() does.
[[nodiscard]] std::vector<StoredRecord> read_places(const std::vector<std::string>& places);

}  // namespace roentgen::bench
