// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Report of a folder of benchmark records: one self-contained HTML page with plots, and its tables as csv files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/ledger/record.h"

namespace roentgen::bench {

/// A table of the page, also written as a csv file.
struct ReportTable {
  std::string name{};  ///< part of the file's name, such as "throughput"
  std::vector<std::string> head{};
  std::vector<std::vector<std::string>> rows{};  ///< cells as plain text, as many as in `head`
};

/// The page and its tables.
struct BenchReport {
  std::filesystem::path page{};  ///< file of the page
  std::string html{};
  std::vector<ReportTable> tables{};
};

/// Makes the report, whose page links to the csv files beside it. Tables: throughput, scaling (with published speeds),
/// roofline (kinds of kernels, from records with a profile), energy, other figures, and settings. Every row of a
/// measured figure ends with the command that measured it, of its latest record; a figure of several records is their
/// median. Plots show throughput and efficiency by the number of devices beside published ones, the roofline, and
/// energy. A section without records says which command fills it.
/// @param page file that write_report() writes
[[nodiscard]] BenchReport make_report(const std::vector<StoredRecord>& records, const std::filesystem::path& page);

/// Returns the table as csv text with a header.
[[nodiscard]] std::string to_csv(const ReportTable& table);

/// Writes the page, and each table to a file beside it: page.html has page_throughput.csv. Returns the paths. Throws
/// DataError if a file cannot be written.
std::vector<std::filesystem::path> write_report(const BenchReport& report);

}  // namespace roentgen::bench
