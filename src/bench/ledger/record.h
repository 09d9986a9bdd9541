// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Record: the stored result of one benchmark, with everything needed to compare it later. A folder of records is the
// ledger.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::bench {

/// Name and version of the format. Readers refuse other versions.
inline constexpr std::string_view kRecordSchema = "roentgen-bench-record/1";

/// Returns the hash of 12 hex digits that identifies this machine without naming it.
[[nodiscard]] std::string machine_hash();

/// Makes a record: a table {schema, date, host, commit, command, case, result}. The date is UTC, such as
/// "2026-11-27T18:43:20Z". The host is machine_hash().
/// @param command words of the command line
/// @param result table that the case returned; its `samples` are the raw measurements, as arrays by name
[[nodiscard]] Value make_record(std::string_view case_name, const std::vector<std::string>& command, Value result);

/// Returns the command line of a record; words with spaces are quoted. Empty if the record has none.
[[nodiscard]] std::string command_text(const Value& record);

/// Returns the default folder of records: $XDG_DATA_HOME/roentgen/bench, else $HOME/.local/share/roentgen/bench. Empty
/// if neither variable is an absolute path. Not created here.
[[nodiscard]] std::filesystem::path default_ledger();

/// Writes a record to a new file in `folder`, which is created if absent, and returns the file's path. Names begin with
/// the date, so that they sort by time. Throws DataError that names the path if it cannot be written.
[[nodiscard]] std::filesystem::path write_record(const std::filesystem::path& folder, const Value& record);

/// A record with the file that contains it.
struct StoredRecord {
  std::filesystem::path file;
  Value value;
};
/// Reads a record. Throws DataError that names the file if it is no record, or a record of another version.
[[nodiscard]] StoredRecord read_record(const std::filesystem::path& file);
/// Reads all files *.json in a folder, or one file, sorted by date. Throws DataError for a folder without records, and
/// as read_record() does.
[[nodiscard]] std::vector<StoredRecord> read_records(const std::filesystem::path& place);

}  // namespace roentgen::bench
