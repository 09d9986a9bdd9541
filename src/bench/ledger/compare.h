// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Comparison of two sets of benchmark records.
#pragma once

#include <vector>

#include "bench/ledger/record.h"
#include "core/value.h"

namespace roentgen::bench {

/// Compares the main figures of records with equal case and settings. Returns a table:
///   level         confidence of the intervals, 0.95
///   same_host     true if all records are from one machine
///   figures       array of {case, figure, a, b, ratio, low, high, verdict, variation,
///                 machine_speed}
///   warnings      array of texts that say why figures may differ: the machine itself was more than 2% slower or faster
///                 in b, or other processes and the like disturbed a single record
///   only_a        labels of the groups of records that `b` lacks; likewise only_b
/// ratio is b / a (b - a for an accuracy), with its interval or null. `variation` says what the interval
/// includes: "between runs" if a side has several records, "within a run" if both have raw samples, else "unknown".
/// verdict is "better", "worse", "no difference" or "unknown". `machine_speed` has the speeds of the machine itself in
/// b divided by those in a: compute and copy, or gpu_clock. It is null if a record lacks them. Intervals hold for each
/// figure by itself. Throws ConfigError if no group occurs on both sides, and names the settings that differ.
[[nodiscard]] Value compare_records(const std::vector<StoredRecord>& a, const std::vector<StoredRecord>& b);

}  // namespace roentgen::bench
